-- One row: a source file of a chain in which `regex` (RE2) matches, of those with `from` <= content_hash < `to` (hex; `to` empty:
-- no bound). `needle`: a text that every match contains, three characters or more, for the text index; empty: none is known,
-- then all files of the range are read. `path` and `language` as in rank_files. The caller chooses ranges that take little
-- time. Key: content_hash, and the text index.
SELECT concat('0x', lower(hex(f.content_hash))) AS content_hash
FROM {verified_db:Identifier}.source_files AS f
WHERE f.content_hash >= toFixedString(unhex({from:String}), 32)
    AND f.content_hash < toFixedString(unhex({to:String}), 32) -- if to
    AND hasAllTokens(f.content, {needle:String}) -- if needle
    AND f.content_hash IN
    (
        SELECT u.content_hash
        FROM {verified_db:Identifier}.source_uses AS u FINAL
        WHERE u.chain_id = {chain_id:UInt32}
            AND u.content_hash >= toFixedString(unhex({from:String}), 32)
            AND u.content_hash < toFixedString(unhex({to:String}), 32) -- if to
            AND u.language = {language:String} -- if language
            AND position(lowerUTF8(u.path), {path:String}) > 0 -- if path
    )
    AND match(replaceAll(f.content, '\r\n', '\n'), {regex:String})
LIMIT 1 BY f.content_hash
LIMIT {limit:UInt32}
