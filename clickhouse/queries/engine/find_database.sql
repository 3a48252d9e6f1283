-- At most one row: the database of that name.
SELECT name
FROM system.databases
WHERE name = {name:String}
LIMIT 1
