-- At most one row: how far the import from one source of verified contracts has come. Uses the key source.
SELECT p.position
FROM import_positions AS p
WHERE p.source = {source:String}
ORDER BY p.version DESC
LIMIT 1
