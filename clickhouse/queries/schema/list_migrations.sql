-- Each row: one applied migration, with the name that was recorded last.
SELECT id, argMax(m.name, applied_at) AS name
FROM schema_migrations AS m
GROUP BY id
LIMIT {limit:UInt32}
