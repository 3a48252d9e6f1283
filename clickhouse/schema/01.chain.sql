-- Layer 1, the chain: final blocks, the canonical block at each height above them, and the ranges of the final tables.

-- One row: one final block.
CREATE TABLE IF NOT EXISTS blocks
(
    chain_id UInt32 COMMENT 'EIP-155 chain id',
    number UInt32 COMMENT 'Block number',
    hash FixedString(32) COMMENT 'Block hash, 32 raw bytes',
    parent_hash FixedString(32) COMMENT 'Hash of the parent block, 32 raw bytes',
    timestamp UInt32 COMMENT 'Block time, unix seconds, UTC',
    base_fee Nullable(UInt128) COMMENT 'Base fee per gas, wei; null before EIP-1559',
    transaction_count UInt32 COMMENT 'Transactions in the block',
    log_count UInt32 COMMENT 'Logs in the block',
    gas_prices Array(UInt128) COMMENT 'Effective gas price of each transaction, wei, in index order; empty if unknown',
    PROJECTION by_hash (SELECT reinterpretAsUInt32(hash), _part_offset ORDER BY reinterpretAsUInt32(hash))
)
ENGINE = MergeTree
ORDER BY (chain_id, number)
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 1000
COMMENT 'Final blocks; append only';

-- HEAD OF blocks PARTITION BY intDiv(number, 256) ORDER BY number

-- One row: one height after one flip of the head. The row with the largest version counts.
CREATE TABLE IF NOT EXISTS head_blocks
(
    chain_id UInt32 COMMENT 'EIP-155 chain id',
    number UInt32 COMMENT 'Block number',
    hash FixedString(32) COMMENT 'Hash of the canonical block at this height from this version on; zero bytes: the height is void',
    parent_hash FixedString(32) COMMENT 'Hash of its parent block; zero bytes: the height is void',
    timestamp UInt32 COMMENT 'Block time, unix seconds, UTC; 0: the height is void',
    commit UInt64 COMMENT 'Commit whose rows in the *_head tables belong to this block; 0: the height is void',
    version UInt64 COMMENT 'Number of the flip, one insert. Within a session each flip adds one. A new session starts from the clock, in 1/1,024 ms, above all earlier versions',
    final_number UInt32 COMMENT 'Last final block at the time of this flip'
)
ENGINE = MergeTree
PARTITION BY intDiv(number, 1024)
ORDER BY (chain_id, number, version)
SETTINGS index_granularity = 256
COMMENT 'Canonical block at each height above the final blocks; a reorg is one insert';

-- One row: the intent to write a block range into the final tables, or its completion.
CREATE TABLE IF NOT EXISTS promotions
(
    chain_id UInt32 COMMENT 'EIP-155 chain id',
    seq UInt64 COMMENT 'Number of the range, the same in its intent and its done row. Within a session each range adds one. A new session starts from the clock, in 1/1,024 ms, above all earlier numbers. 0: the start row',
    status Enum8('intent' = 1, 'done' = 2) COMMENT 'intent: the inserts may be unfinished; done: all rows of the range are stored',
    kind Enum8('start' = 1, 'backfill' = 2, 'promotion' = 3) COMMENT 'start: marks the block before the first ingested block; backfill: rows from the node; promotion: rows from the head tables',
    from_block UInt32 COMMENT 'First block of the range',
    to_block UInt32 COMMENT 'Last block of the range; in the newest done row the cursor',
    to_hash FixedString(32) COMMENT 'Hash of the last block',
    to_timestamp UInt32 COMMENT 'Time of the last block, unix seconds, UTC',
    counts Map(LowCardinality(String), UInt64) COMMENT 'Rows of the range by final table',
    written_at DateTime64(3, 'UTC') DEFAULT now64(3, 'UTC') COMMENT 'Time of writing, UTC'
)
ENGINE = MergeTree
ORDER BY (chain_id, seq, status)
SETTINGS index_granularity = 256
COMMENT 'Intents and cursors of the final tables';
