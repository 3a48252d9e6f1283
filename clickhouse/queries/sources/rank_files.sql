-- Each row: a source file that may contain the text `needle` (three or more characters), with its best contract. The
-- index finds files with all three-character sequences of the needle, in any letter case. Contracts and files rank by
-- exact_match, then by most logs, then by smallest address. Uses the text index of source_files, then content_hash of
-- source_uses. The projection by_contract counts logs. Never reads the content. `path` is part of the file's path in
-- lower case. An empty `path` or `language` accepts any file.
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
    AND u.content_hash IN
    (
        SELECT content_hash
        FROM {verified_db:Identifier}.source_files
        WHERE hasAllTokens(content, {needle:String})
    )
ORDER BY u.status, a.logs DESC, u.address, u.content_hash
LIMIT 1 BY u.content_hash
LIMIT {limit:UInt32}
