-- One row: what differs after every write of token metadata (and at times after a merge). Reads one narrow column.
SELECT toString(count()) AS table_rows, toString(max(version)) AS newest_version
FROM tokens
