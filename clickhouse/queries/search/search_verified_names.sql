-- Each row: a verified contract of any chain whose name contains `q` (lower case, not empty). Contracts of other chains
-- count too, because a contract of this chain may have the same code. The best match comes first: the whole name, its
-- begin, the begin of a later word (`word` is `q` after a space), any other place. Contracts of this chain precede
-- contracts of other chains with an equal match. Reads the text index of verified_contracts in the
-- database `verified_db`.
SELECT chain_id, address, code_hash, name, path, version
FROM {verified_db:Identifier}.verified_contracts
WHERE position(lowerUTF8(name), {q:String}) > 0
ORDER BY
    multiIf(lowerUTF8(name) = {q:String}, 0, startsWith(lowerUTF8(name), {q:String}), 1, position(lowerUTF8(name), {word:String}) > 0, 2, 3),
    chain_id = {chain_id:UInt32} DESC,
    version DESC
LIMIT {limit:UInt32}
