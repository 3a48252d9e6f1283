-- One row: whether a restored database waits and the database that it is for has no tables, 1 or 0.
SELECT
    (SELECT count() FROM system.databases WHERE name = {restored:String}) > 0
    AND (SELECT count() FROM system.tables WHERE database = {name:String}) = 0 AS waits
