-- One row: a source file that may hold `needle` (three characters or more), by the index alone: it has all of the needle's
-- runs of three characters, in any letter case. With the best of its contracts: verified exactly, then the most logs, then the
-- smallest address; files in the same order. Key: the text index of source_files, then content_hash of source_uses; logs are
-- counted by the projection by_contract. Reads no content. `path`: part of it in lower case; empty:
-- any. `language`: empty for any.
WITH activity AS
(
    SELECT address AS emitter, count() AS logs
    FROM logs
    WHERE chain_id = {chain_id:UInt32}
        AND address IN (SELECT address FROM {verified_db:Identifier}.verified_contracts WHERE chain_id = {chain_id:UInt32})
    GROUP BY chain_id, address
)
SELECT
    concat('0x', lower(hex(u.content_hash))) AS content_hash,
    concat('0x', lower(hex(u.address))) AS address
FROM {verified_db:Identifier}.source_uses AS u FINAL
ANY LEFT JOIN activity AS a ON a.emitter = u.address
WHERE u.chain_id = {chain_id:UInt32}
    AND u.language = {language:String} -- if language
    AND position(lowerUTF8(u.path), {path:String}) > 0 -- if path
    AND u.content_hash IN
    (
        SELECT content_hash
        FROM {verified_db:Identifier}.source_files
        WHERE hasAllTokens(content, {needle:String})
    )
ORDER BY u.status, a.logs DESC, u.address, u.content_hash
LIMIT 1 BY u.content_hash
LIMIT {limit:UInt32}
