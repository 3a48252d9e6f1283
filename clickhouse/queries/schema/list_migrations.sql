-- One row: one applied migration. If the file was renamed, the newest name.
SELECT id, argMax(m.name, applied_at) AS name
FROM schema_migrations AS m
GROUP BY id
LIMIT {limit:UInt32}
