-- Each row: the content of a source file. The parameter `hashes` is hex without 0x. Uses the key
-- content_hash.
SELECT
    f.content_hash,
    f.content
FROM source_files AS f
WHERE f.content_hash IN (SELECT toFixedString(unhex(arrayJoin({hashes:Array(String)})), 32))
LIMIT 1 BY f.content_hash
LIMIT {limit:UInt32}
