-- Each row: one applied migration, with the name that was recorded last. The caller throws if the answer reaches the
-- limit.
SELECT id, argMax(m.name, applied_at) AS name
FROM schema_migrations AS m
GROUP BY id
LIMIT {limit:UInt32}
