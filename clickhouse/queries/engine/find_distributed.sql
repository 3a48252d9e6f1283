-- At most one row: the table swaps, if it is distributed (`distributed`) or if it is not.
SELECT name
FROM system.tables
WHERE database = currentDatabase() AND name = 'swaps' AND (engine = 'Distributed') = {distributed:Bool}
LIMIT 1
