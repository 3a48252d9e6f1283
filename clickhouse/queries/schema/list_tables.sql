-- Each row: one table of this database. The caller throws if the answer reaches the limit.
SELECT name
FROM system.tables
WHERE database = currentDatabase()
LIMIT {limit:UInt32}
