-- Each row: one table of this database.
SELECT name
FROM system.tables
WHERE database = currentDatabase()
LIMIT {limit:UInt32}
