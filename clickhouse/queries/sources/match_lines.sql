-- Each row: a line of a given source file that matches `regex` (RE2). `column` is the number of characters before the
-- first match, plus 1. The first group of the expression `prefix` captures the text before the first match. Uses the
-- key content_hash. The caller passes only few hashes.
SELECT
    l.content_hash,
    toUInt32(l.number) AS line,
    toUInt32(lengthUTF8(extract(l.line, {prefix:String})) + 1) AS column,
    toUInt32(countMatches(l.line, {regex:String})) AS matches
FROM
(
    SELECT
        content_hash,
        number,
        line
    FROM
    (
        SELECT content_hash, splitByChar('\n', replaceAll(content, '\r\n', '\n')) AS lines
        FROM {verified_db:Identifier}.source_files
        WHERE content_hash IN (SELECT toFixedString(unhex(arrayJoin({hashes:Array(String)})), 32))
        LIMIT 1 BY content_hash
    )
    ARRAY JOIN lines AS line, arrayEnumerate(lines) AS number
) AS l
WHERE match(l.line, {regex:String})
ORDER BY l.content_hash, l.number
LIMIT {limit:UInt32}
