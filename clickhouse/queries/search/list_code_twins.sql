-- Each row: a contract whose newest stored code has one of the given hashes, in the order of addresses. The parameter
-- `hashes` is hex without 0x. Reads the column code_hash of contract_codes, then key address.
SELECT
    c.address,
    c.last_hash AS code_hash
FROM
(
    SELECT address, argMax(code_hash, version) AS last_hash
    FROM contract_codes
    WHERE address IN (
        SELECT address
        FROM contract_codes
        WHERE code_hash IN (SELECT toFixedString(unhex(arrayJoin({hashes:Array(String)})), 32))
    )
    GROUP BY address
) AS c
WHERE has({hashes:Array(String)}, lower(hex(c.last_hash)))
ORDER BY c.address
LIMIT {limit:UInt32}
