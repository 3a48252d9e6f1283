-- One row: a contract whose newest code has one of the given hashes (hex without 0x), by address. Reads the column of hashes of
-- contract_codes, then its key.
SELECT
    concat('0x', lower(hex(c.address))) AS address,
    lower(hex(c.last_hash)) AS code_hash
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
