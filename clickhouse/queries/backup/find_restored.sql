-- One row: 1 if a restore is unfinished, else 0. A restore is unfinished if the restored database exists and
-- the database that it replaces has no tables.
SELECT
    (SELECT count() FROM system.databases WHERE name = {restored:String}) > 0
    AND (SELECT count() FROM system.tables WHERE database = {name:String}) = 0 AS waits
LIMIT 1
