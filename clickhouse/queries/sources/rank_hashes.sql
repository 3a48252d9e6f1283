-- Each row: one of the given source files with its best contract. Contracts and files rank by exact_match, then by
-- most logs, then by smallest address. `hashes` are at most 2,000 values in hex without 0x. Uses the key
-- content_hash.
WITH activity AS
(
    SELECT address AS emitter, count() AS logs
    FROM logs
    WHERE chain_id = {chain_id:UInt32}
        AND address IN (SELECT address FROM {verified_db:Identifier}.verified_contracts WHERE chain_id = {chain_id:UInt32})
    GROUP BY chain_id, address
)
SELECT
    u.content_hash,
    u.address
FROM {verified_db:Identifier}.source_uses AS u FINAL
ANY LEFT JOIN activity AS a ON a.emitter = u.address
WHERE u.chain_id = {chain_id:UInt32}
    AND u.language = {language:String} -- if language
    AND position(lowerUTF8(u.path), {path:String}) > 0 -- if path
    AND u.content_hash IN (SELECT toFixedString(unhex(arrayJoin({hashes:Array(String)})), 32))
ORDER BY u.status, a.logs DESC, u.address, u.content_hash
LIMIT 1 BY u.content_hash
LIMIT {limit:UInt32}
