-- Layer 6, raw logs of every contract.

-- One row: one log. Key: (chain_id, address, topic0, ord). Queries without an address use the projections. by_topic,
-- by_ord and by_tx hold row offsets within a part; by_contract counts the logs of each contract. Projections belong to
-- the part, so they always match its rows.
CREATE TABLE IF NOT EXISTS logs
(
    chain_id UInt32 COMMENT 'EIP-155 chain id',
    ord UInt64 COMMENT 'block_number * 2^20 + log_index',
    timestamp UInt32 COMMENT 'Block time, unix seconds, UTC',
    address FixedString(20) COMMENT 'Contract that emitted the log',
    topic_count UInt8 COMMENT 'Number of topics, 0-4',
    topic0 FixedString(32) COMMENT 'First topic; zero bytes if absent',
    topic1 FixedString(32) COMMENT 'Second topic; zero bytes if absent',
    topic2 FixedString(32) COMMENT 'Third topic; zero bytes if absent',
    topic3 FixedString(32) COMMENT 'Fourth topic; zero bytes if absent',
    data String COMMENT 'Data, raw bytes' CODEC(ZSTD(1)),
    tx_hash FixedString(32) COMMENT 'Transaction hash',
    tx_index UInt32 COMMENT 'Index of the transaction in its block',
    PROJECTION by_topic (SELECT chain_id, topic0, ord, _part_offset ORDER BY chain_id, topic0, ord),
    PROJECTION by_ord (SELECT chain_id, ord, _part_offset ORDER BY chain_id, ord),
    PROJECTION by_tx (SELECT reinterpretAsUInt32(tx_hash), _part_offset ORDER BY reinterpretAsUInt32(tx_hash)),
    PROJECTION by_contract (SELECT chain_id, address, count(), min(ord), max(ord) GROUP BY chain_id, address) WITH SETTINGS (index_granularity = 512)
)
ENGINE = MergeTree
ORDER BY (chain_id, address, topic0, ord)
SETTINGS index_granularity = 4096, non_replicated_deduplication_window = 1000
COMMENT 'Final logs; append only';

-- HEAD OF logs PARTITION BY intDiv(ord, 268435456) ORDER BY ord
