-- Each row: one table of this database whose name begins with one of two prefixes.
SELECT name
FROM system.tables
WHERE database = currentDatabase() AND (startsWith(name, {staged:String}) OR startsWith(name, {next:String}))
ORDER BY name
LIMIT 1000
