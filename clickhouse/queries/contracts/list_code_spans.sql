-- Each row: what stood at an address from a block on, oldest first. Uses the key address. With `codes`, the newest
-- stored code of an address without spans is its only span. The parameter `addresses` is hex without 0x.
SELECT
    s.contract AS address,
    s.from_block,
    s.code_hash,
    s.code_size,
    s.proxy,
    s.implementation,
    s.beacon,
    s.facets,
    s.fixed
FROM
(
    SELECT address AS contract, from_block, code_hash, code_size, proxy, implementation, beacon, facets, fixed
    FROM code_spans FINAL
    WHERE address IN (SELECT toFixedString(unhex(arrayJoin({addresses:Array(String)})), 20))
        AND from_block <= {to_block:UInt32}
    -- if codes
    UNION ALL
    (
        SELECT address AS contract, least(checked_block, {to_block:UInt32}) AS from_block, code_hash, code_size, proxy, implementation, beacon, facets, fixed
        FROM contract_codes
        WHERE address IN (SELECT toFixedString(unhex(arrayJoin({addresses:Array(String)})), 20))
            AND address NOT IN (SELECT address FROM code_spans WHERE address IN (SELECT toFixedString(unhex(arrayJoin({addresses:Array(String)})), 20)))
        ORDER BY version DESC
        LIMIT 1 BY address
    )
    -- end
) AS s
ORDER BY s.from_block
LIMIT {limit:UInt32}
