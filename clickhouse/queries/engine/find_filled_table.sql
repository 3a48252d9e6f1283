-- At most one row: the table of a database that has most rows, bookkeeping left out.
SELECT name, toString(total_rows) AS rows
FROM system.tables
WHERE database = {name:String} AND total_rows > 0 AND name NOT IN ('schema_migrations', 'operations')
ORDER BY total_rows DESC
LIMIT 1
