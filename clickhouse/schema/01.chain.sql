-- Layer 1, the chain itself: blocks, which hash is canonical at each unfinalised height, and what has become final.

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
    gas_prices Array(UInt128) COMMENT 'Effective gas price of each transaction, wei, in index order; empty where unknown',
    PROJECTION by_hash (SELECT reinterpretAsUInt32(hash), _part_offset ORDER BY reinterpretAsUInt32(hash))
)
ENGINE = MergeTree
ORDER BY (chain_id, number)
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 1000
COMMENT 'Final blocks; append only';

-- HEAD OF blocks PARTITION BY intDiv(number, 256) ORDER BY number

-- One row: one height as one flip left it. The row with the largest version counts.
CREATE TABLE IF NOT EXISTS head_blocks
(
    chain_id UInt32 COMMENT 'EIP-155 chain id',
    number UInt32 COMMENT 'Block number',
    hash FixedString(32) COMMENT 'Hash that is canonical at this height from this version on; zero bytes: none',
    parent_hash FixedString(32) COMMENT 'Its parent hash',
    timestamp UInt32 COMMENT 'Block time, unix seconds, UTC',
    commit UInt64 COMMENT 'Names the attempt whose rows in the *_head tables are this block; 0: the height is void',
    version UInt64 COMMENT 'Grows by one with each insert, which is one flip of the head',
    final_number UInt32 COMMENT 'Last block that was final when this version was written'
)
ENGINE = MergeTree
PARTITION BY intDiv(number, 1024)
ORDER BY (chain_id, number, version)
SETTINGS index_granularity = 256
COMMENT 'Which block is canonical at each unfinalised height; a reorg is one insert here';

-- One row: the intent to write a block range into the final tables, or its completion.
CREATE TABLE IF NOT EXISTS promotions
(
    chain_id UInt32 COMMENT 'EIP-155 chain id',
    seq UInt64 COMMENT 'Grows by one with each range; an intent and its completion share it',
    status Enum8('intent' = 1, 'done' = 2) COMMENT 'intent: inserts may be under way; done: everything of the range is stored',
    kind Enum8('start' = 1, 'backfill' = 2, 'promotion' = 3) COMMENT 'start: the block before the first ingested one; backfill: straight from the node; promotion: from the head tables',
    from_block UInt32 COMMENT 'First block of the range',
    to_block UInt32 COMMENT 'Last block of the range: the cursor once the row is done',
    to_hash FixedString(32) COMMENT 'Hash of the last block',
    to_timestamp UInt32 COMMENT 'Time of the last block, unix seconds, UTC',
    counts Map(LowCardinality(String), UInt64) COMMENT 'Rows of the range by final table',
    written_at DateTime64(3, 'UTC') DEFAULT now64(3, 'UTC') COMMENT 'When this row was written, UTC'
)
ENGINE = MergeTree
ORDER BY (chain_id, seq, status)
SETTINGS index_granularity = 256
COMMENT 'Intents and cursors of the final tables';
