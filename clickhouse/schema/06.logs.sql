-- Layer 6, raw logs of every contract.

-- One row: one log. Key: (chain_id, address, topic0, ord). Queries without an address use the projections.
-- The projections by_topic, by_ord and by_tx hold only the row numbers within a part of the table. The
-- projection by_contract counts the logs of each contract. ClickHouse stores a projection together with its
-- part, so a projection never differs from the rows.
CREATE TABLE IF NOT EXISTS logs
(
    chain_id UInt32 COMMENT 'EIP-155 id of the chain',
    ord UInt64 COMMENT 'Position of the log in the chain: block_number * 2^20 + log_index',
    timestamp UInt32 COMMENT 'Block time, unix seconds, UTC',
    address FixedString(20) COMMENT 'Address of the contract that emitted the log',
    topic_count UInt8 COMMENT 'Number of topics of the log, 0 to 4',
    topic0 FixedString(32) COMMENT 'First topic of the log; zero bytes if absent',
    topic1 FixedString(32) COMMENT 'Second topic of the log; zero bytes if absent',
    topic2 FixedString(32) COMMENT 'Third topic of the log; zero bytes if absent',
    topic3 FixedString(32) COMMENT 'Fourth topic of the log; zero bytes if absent',
    data String COMMENT 'Data of the log, raw bytes' CODEC(ZSTD(1)),
    tx_hash FixedString(32) COMMENT 'Hash of the transaction',
    tx_index UInt32 COMMENT 'Index of the transaction in its block',
    PROJECTION by_topic (SELECT chain_id, topic0, ord, _part_offset ORDER BY chain_id, topic0, ord),
    PROJECTION by_ord (SELECT chain_id, ord, _part_offset ORDER BY chain_id, ord),
    PROJECTION by_tx (SELECT reinterpretAsUInt32(tx_hash), _part_offset ORDER BY reinterpretAsUInt32(tx_hash)),
    PROJECTION by_contract (SELECT chain_id, address, count(), min(ord), max(ord) GROUP BY chain_id, address) WITH SETTINGS (index_granularity = 512)
)
ENGINE = MergeTree
ORDER BY (chain_id, address, topic0, ord)
SETTINGS index_granularity = 4096, non_replicated_deduplication_window = 1000
COMMENT 'Logs of all contracts in final blocks; rows are only appended';

-- HEAD OF logs PARTITION BY intDiv(ord, 268435456) ORDER BY ord
