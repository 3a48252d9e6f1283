-- At most one row if the table swaps exists as the requested kind: with `distributed` as a Distributed table
-- of a cluster, otherwise as a table of one server.
SELECT name
FROM system.tables
WHERE database = currentDatabase() AND name = 'swaps' AND (engine = 'Distributed') = {distributed:Bool}
LIMIT 1
