-- At most one row: the table of finished ranges of a database, where it has rows.
SELECT name
FROM system.tables
WHERE database = {name:String} AND name = 'promotions' AND total_rows > 0
