-- One row: a verified contract whose name has `q` (lower case, not empty) in it, of any chain, since others may have its code.
-- `place` as in search_names. Reads the text index of verified_contracts in `verified_db`.
SELECT
    chain_id,
    lower(hex(code_hash)) AS code_hash,
    concat('0x', lower(hex(v.address))) AS address,
    name AS title,
    path AS subtitle,
    toFloat64(multiIf(lowerUTF8(name) = {q:String}, 4, startsWith(lowerUTF8(name), {q:String}), 3, position(concat(' ', lowerUTF8(name)), concat(' ', {q:String})) > 0, 2, 1)) AS place
FROM {verified_db:Identifier}.verified_contracts AS v
WHERE position(lowerUTF8(name), {q:String}) > 0
ORDER BY place DESC, chain_id = {chain_id:UInt32} DESC, v.version DESC
LIMIT 1 BY chain_id, v.address
LIMIT {limit:UInt32}
