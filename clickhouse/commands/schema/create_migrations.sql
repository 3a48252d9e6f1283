-- Creates the table of applied migrations. The program runs this statement before it creates the schema,
-- because the table records how much of the schema exists.
CREATE TABLE IF NOT EXISTS schema_migrations
(
    id UInt32 COMMENT 'Number of the migration file; 0 marks a step of creating the current schema',
    name String COMMENT 'Name of the migration file',
    applied_at DateTime64(3, 'UTC') DEFAULT now64(3, 'UTC') COMMENT 'Time when the migration was applied, UTC'
)
ENGINE = ReplacingMergeTree
ORDER BY id
COMMENT 'Migrations that were applied to this database'
