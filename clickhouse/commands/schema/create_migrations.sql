-- The table of applied migrations. It is created before the schema, because it records how far the schema is.
CREATE TABLE IF NOT EXISTS schema_migrations
(
    id UInt32 COMMENT 'Number of the migration file; 0: created by the current schema',
    name String COMMENT 'File name',
    applied_at DateTime64(3, 'UTC') DEFAULT now64(3, 'UTC') COMMENT 'When it was applied, UTC'
)
ENGINE = ReplacingMergeTree
ORDER BY id
COMMENT 'Which migrations this database has'
