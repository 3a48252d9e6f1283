-- Each row: the name of one column of a table of this database, in the order of the table.
SELECT name
FROM system.columns
WHERE database = currentDatabase() AND table = {table:String}
ORDER BY position
LIMIT 1000
