-- Each row: one table of this database except schema_migrations. Views come first.
SELECT name
FROM system.tables
WHERE database = currentDatabase() AND name != 'schema_migrations'
ORDER BY engine = 'MaterializedView' DESC, name
LIMIT 1000
