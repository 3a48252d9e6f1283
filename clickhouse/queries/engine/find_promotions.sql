-- At most one row: the table promotions of a database, if it has rows.
SELECT name
FROM system.tables
WHERE database = {name:String} AND name = 'promotions' AND total_rows > 0
LIMIT 1
