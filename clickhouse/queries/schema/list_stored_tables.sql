-- Each row: one table of a database that holds final rows.
SELECT name
FROM system.tables
WHERE database = {source:String}
    AND endsWith(engine, 'MergeTree')
    AND NOT endsWith(name, '_head')
    AND name != 'head_blocks'
ORDER BY name
LIMIT 1000
