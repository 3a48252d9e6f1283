-- Rows of Parquet files with blocks, as the files have them: one row per block. A null key is stored as 2^64 - 1.
CREATE TABLE blocks
(
    file             UInt32 COMMENT 'Number of the file',
    block_number     UInt64 COMMENT 'Block number',
    block_hash       Nullable(String) COMMENT 'Hash of the block, 32 bytes',
    parent_hash      Nullable(String) COMMENT 'Hash of the block before, 32 bytes; null if the file does not have it',
    timestamp        Nullable(UInt64) COMMENT 'Time of the block, unix seconds, UTC',
    base_fee_per_gas Nullable(UInt64) COMMENT 'Base fee, raw wei; null before EIP-1559',
    gas_used         Nullable(UInt64) COMMENT 'Gas used by the block; null if the file does not have it',
    logs_bloom       Nullable(String) COMMENT 'Bloom of the logs, 256 bytes; null if the file does not have it',
    header           Nullable(String) COMMENT 'Header in RLP; null if the file does not have it',
    chain_id         Nullable(UInt64) COMMENT 'Chain of the block'
)
ENGINE = MergeTree
PARTITION BY file
ORDER BY block_number
SETTINGS index_granularity = 1024
