-- Layer 1, the chain: final blocks, the canonical block at each height above them, and the ranges of blocks
-- written to the final tables.

-- One row: one final block.
CREATE TABLE IF NOT EXISTS blocks
(
    chain_id UInt32 COMMENT 'EIP-155 id of the chain',
    number UInt32 COMMENT 'Block number',
    hash FixedString(32) COMMENT 'Block hash, 32 raw bytes',
    parent_hash FixedString(32) COMMENT 'Hash of the parent block, 32 raw bytes',
    timestamp UInt32 COMMENT 'Block time, unix seconds, UTC',
    base_fee Nullable(UInt128) COMMENT 'Base fee per gas, wei; null for blocks before EIP-1559',
    transaction_count UInt32 COMMENT 'Number of transactions in the block',
    log_count UInt32 COMMENT 'Number of logs in the block',
    gas_prices Array(UInt128) COMMENT 'Effective gas price of each transaction, wei, ordered by transaction index; empty if unknown',
    gas_used Array(UInt64) COMMENT 'Gas used by each transaction alone, ordered by transaction index; empty if no receipts were fetched',
    PROJECTION by_hash (SELECT reinterpretAsUInt32(hash), _part_offset ORDER BY reinterpretAsUInt32(hash))
)
ENGINE = MergeTree
ORDER BY (chain_id, number)
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 1000
COMMENT 'Final blocks; rows are only appended';

-- HEAD OF blocks PARTITION BY intDiv(number, 256) ORDER BY number

-- One row: the block at one height of the chain, as one flip set it (a flip is one insert that changes the
-- head). If a height has several rows, the row with the largest version is valid.
CREATE TABLE IF NOT EXISTS head_blocks
(
    chain_id UInt32 COMMENT 'EIP-155 id of the chain',
    number UInt32 COMMENT 'Block number',
    hash FixedString(32) COMMENT 'Hash of the canonical block at this height; zero bytes if a reorg left no block at this height',
    parent_hash FixedString(32) COMMENT 'Hash of the parent block; zero bytes if a reorg left no block at this height',
    timestamp UInt32 COMMENT 'Block time, unix seconds, UTC; 0 if a reorg left no block at this height',
    commit UInt64 COMMENT 'Random number of the write that stored this block; rows in the *_head tables with this commit belong to the block; 0 if there is no block at this height',
    version UInt64 COMMENT 'Number of the insert (flip) that wrote this row; the largest version of a height is valid. Each flip of a session adds one. A new session starts at the clock, in 1/1,024 ms, above all earlier versions',
    final_number UInt32 COMMENT 'Number of the newest final block when this row was written',
    proof Enum8('bloom' = 1, 'headers' = 2, 'full' = 3, 'receipts' = 4, 'none' = 5) COMMENT 'Level of proof of the rows of this block, as in the setting PROOF; bloom if there is no block at this height'
)
ENGINE = MergeTree
PARTITION BY intDiv(number, 1024)
ORDER BY (chain_id, number, version)
SETTINGS index_granularity = 256
COMMENT 'Canonical block at each height above the final blocks; a reorg is one insert';

-- One row: a range of blocks that the ingester is about to write into the final tables (intent), or
-- has completely written (done).
CREATE TABLE IF NOT EXISTS promotions
(
    chain_id UInt32 COMMENT 'EIP-155 id of the chain',
    seq UInt64 COMMENT 'Number of the range, the same in its intent row and its done row. Each range of a session adds one. A new session starts at the clock, in 1/1,024 ms, above all earlier numbers. 0 marks the start row',
    status Enum8('intent' = 1, 'done' = 2) COMMENT 'intent: the inserts may be unfinished; done: all rows of the range are stored',
    kind Enum8('start' = 1, 'backfill' = 2, 'promotion' = 3) COMMENT 'start: marks the block before the first ingested block; backfill: the rows come from the node; promotion: the rows come from the head tables',
    from_block UInt32 COMMENT 'First block of the range',
    to_block UInt32 COMMENT 'Last block of the range; in the newest done row, the last block of the final tables',
    to_hash FixedString(32) COMMENT 'Hash of the last block of the range, 32 raw bytes',
    to_timestamp UInt32 COMMENT 'Time of the last block of the range, unix seconds, UTC',
    counts Map(LowCardinality(String), UInt64) COMMENT 'Number of rows that the range adds to each final table, by table name',
    proof Enum8('bloom' = 1, 'headers' = 2, 'full' = 3, 'receipts' = 4, 'none' = 5) COMMENT 'Weakest level of proof of the blocks of the range, as in the setting PROOF. If a range has several done rows, the weakest level is valid',
    written_at DateTime64(3, 'UTC') DEFAULT now64(3, 'UTC') COMMENT 'Time when this row was written, UTC'
)
ENGINE = MergeTree
ORDER BY (chain_id, seq, status)
SETTINGS index_granularity = 256
COMMENT 'Ranges of blocks written to the final tables: intents and completions';
