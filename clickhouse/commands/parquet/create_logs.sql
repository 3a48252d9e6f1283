-- Rows of Parquet files with logs, as the files have them: one row per log. A null key is stored as 2^64 - 1.
CREATE TABLE logs
(
    file              UInt32 COMMENT 'Number of the file',
    block_number      UInt64 COMMENT 'Block number',
    log_index         UInt64 COMMENT 'Position of the log in its block',
    transaction_index Nullable(UInt64) COMMENT 'Position of the transaction in its block',
    transaction_hash  Nullable(String) COMMENT 'Hash of the transaction, 32 bytes',
    address           Nullable(String) COMMENT 'Contract, 20 bytes',
    topic0            Nullable(String) COMMENT 'First topic, 32 bytes; null if the log has none',
    topic1            Nullable(String) COMMENT 'Second topic, 32 bytes; null if the log has none',
    topic2            Nullable(String) COMMENT 'Third topic, 32 bytes; null if the log has none',
    topic3            Nullable(String) COMMENT 'Fourth topic, 32 bytes; null if the log has none',
    data              Nullable(String) COMMENT 'Data of the log',
    chain_id          Nullable(UInt64) COMMENT 'Chain of the log'
)
ENGINE = MergeTree
PARTITION BY file
ORDER BY (block_number, log_index)
SETTINGS index_granularity = 1024
