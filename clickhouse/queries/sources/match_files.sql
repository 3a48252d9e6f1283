-- Each row: a source file of a chain that matches `regex` (RE2), with from <= content_hash < to. `from` and
-- `to` are hex; an empty `to` means no bound. The caller chooses ranges small enough to be fast. Uses the key
-- content_hash, and the text index. `needle` is a text of three or more characters that every match contains;
-- the text index finds the files that contain it. If `needle` is empty, the query reads every file of the
-- range. `path` is part of the file's path in lower case. An empty `path` or `language` accepts any file.
SELECT f.content_hash
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
