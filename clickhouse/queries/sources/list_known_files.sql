-- Each row: the hash of a stored source file. The parameter `hashes` is hex without 0x. Uses the key content_hash.
-- Never reads the content.
SELECT f.content_hash
FROM source_files AS f
WHERE f.content_hash IN (SELECT toFixedString(unhex(arrayJoin({hashes:Array(String)})), 32))
LIMIT 1 BY f.content_hash
LIMIT {limit:UInt32}
