-- At most one row: the table with the most rows in a database, if it has rows. The tables
-- schema_migrations and operations do not count.
SELECT name, assumeNotNull(total_rows) AS rows
FROM system.tables
WHERE database = {name:String} AND total_rows > 0 AND name NOT IN ('schema_migrations', 'operations')
ORDER BY total_rows DESC
LIMIT 1
