-- At most one row: the largest table of a database by rows, except schema_migrations and operations.
SELECT name, toString(total_rows) AS rows
FROM system.tables
WHERE database = {name:String} AND total_rows > 0 AND name NOT IN ('schema_migrations', 'operations')
ORDER BY total_rows DESC
LIMIT 1
