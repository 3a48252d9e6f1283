-- At most one row: the import position of one source. Uses the key source.
SELECT p.position AS position
FROM import_positions AS p
WHERE p.source = {source:String}
ORDER BY p.version DESC
LIMIT 1
