-- At most one row: the table of swaps where it is distributed or, if asked, where it is not.
SELECT name
FROM system.tables
WHERE database = currentDatabase() AND name = 'swaps' AND (engine = 'Distributed') = {distributed:Bool}
