-- Each row: the creator of one contract as of the snapshot: the sender of the transaction that created the contract.
-- Contracts without a known creator have no row. Uses the key address. Reads all rows of the head table, which is
-- small. The parameter `addresses` is hex without 0x.
SELECT
    contract AS address,
    assumeNotNull(created_by) AS creator
FROM
(
    SELECT address AS contract, creator AS created_by
    FROM created_contracts_chain AS d
    WHERE address IN (SELECT toFixedString(unhex(arrayJoin({addresses:Array(String)})), 20))
    UNION ALL
    SELECT address, creator
    FROM contract_creations
    WHERE block <= intDiv({final_ord:UInt64}, 1048576)
        AND address IN (SELECT toFixedString(unhex(arrayJoin({addresses:Array(String)})), 20))
)
WHERE isNotNull(created_by)
LIMIT {limit:UInt32}
