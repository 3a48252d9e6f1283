-- At most one row. It exists if the table swaps is of the requested kind: with `distributed` a Distributed
-- table of a cluster, otherwise a table of one server.
SELECT name
FROM system.tables
WHERE database = currentDatabase() AND name = 'swaps' AND (engine = 'Distributed') = {distributed:Bool}
LIMIT 1
