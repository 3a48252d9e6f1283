-- Each row: a verified contract with a given code hash, the best of each chain first: exact_match before match, then
-- oldest. A row may be outdated, because only verified_contracts has the current hash. So the query returns up to
-- `each` rows for each chain and hash. `hashes` are at most 1,000 values in hex without 0x. Uses the key code_hash.
SELECT
    c.code_hash,
    c.status,
    c.verified_at,
    c.chain_id,
    c.address
FROM verified_code_hashes AS c
WHERE c.code_hash IN (SELECT toFixedString(unhex(arrayJoin({hashes:Array(String)})), 32))
ORDER BY c.code_hash, c.chain_id, c.status, c.verified_at, c.address
LIMIT {each:UInt32} BY c.code_hash, c.chain_id
LIMIT {limit:UInt32}
