-- One row: a verified contract whose name has `q` (lower case, not empty) in it, of any chain, since others may have its code;
-- RowBinary, the best first as in search_names, those of the chain before others. Reads the text index of verified_contracts in
-- `verified_db`.
SELECT chain_id, address, code_hash, name, path, version
FROM {verified_db:Identifier}.verified_contracts
WHERE position(lowerUTF8(name), {q:String}) > 0
ORDER BY
    multiIf(lowerUTF8(name) = {q:String}, 0, startsWith(lowerUTF8(name), {q:String}), 1, position(lowerUTF8(name), {word:String}) > 0, 2, 3),
    chain_id = {chain_id:UInt32} DESC,
    version DESC
LIMIT {limit:UInt32}
