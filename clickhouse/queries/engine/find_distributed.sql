-- At most one row: the table swaps, if its kind is the requested one. With `distributed` the query
-- finds a Distributed table, otherwise any other table.
SELECT name
FROM system.tables
WHERE database = currentDatabase() AND name = 'swaps' AND (engine = 'Distributed') = {distributed:Bool}
LIMIT 1
