-- One row: a mark that changes with every write of token metadata, and sometimes with a merge. Reads one narrow column.
SELECT toString(count()) AS table_rows, toString(max(version)) AS newest_version
FROM tokens
LIMIT 1
