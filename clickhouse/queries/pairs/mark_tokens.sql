-- Each row: a value that changes with every write of token metadata. It sometimes also changes when the engine merges
-- parts. Reads one narrow column.
SELECT toString(count()) AS table_rows, toString(max(version)) AS newest_version
FROM tokens
LIMIT 1
