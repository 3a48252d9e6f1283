-- At most one row: the database with this name.
SELECT name
FROM system.databases
WHERE name = {name:String}
LIMIT 1
