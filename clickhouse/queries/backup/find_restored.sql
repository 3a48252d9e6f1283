-- Each row: 1 if the restored database exists and its target database has no tables, else 0.
SELECT
    (SELECT count() FROM system.databases WHERE name = {restored:String}) > 0
    AND (SELECT count() FROM system.tables WHERE database = {name:String}) = 0 AS waits
LIMIT 1
