-- Each row: one of the `addresses` (hex without 0x) with the same code as a verified contract on any chain. Uses the
-- keys address in contract_codes, and code_hash in verified_code_hashes of the database `verified_db`.
SELECT address
FROM contract_codes FINAL
WHERE address IN (SELECT toFixedString(unhex(arrayJoin({addresses:Array(String)})), 20))
    AND code_hash IN
    (
        SELECT code_hash
        FROM {verified_db:Identifier}.verified_code_hashes
        WHERE code_hash IN
        (
            SELECT code_hash
            FROM contract_codes
            WHERE address IN (SELECT toFixedString(unhex(arrayJoin({addresses:Array(String)})), 20))
        )
    )
LIMIT length({addresses:Array(String)})
