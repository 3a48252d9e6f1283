-- One row: how far the import of a source has come. Key: source.
SELECT p.position AS position
FROM import_positions AS p
WHERE p.source = {source:String}
ORDER BY p.version DESC
LIMIT 1
