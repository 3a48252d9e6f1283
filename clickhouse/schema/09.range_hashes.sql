-- Layer 9, range hashes: a hash over the stored rows of each range of 1,000 final blocks, to compare two deployments.

-- One row: one range, written once the whole range is final. The hash does not depend on the order or the batches of
-- inserts. src/ingest/repair/rangeHash.ts defines the hash. A range hashed twice has equal rows.
CREATE TABLE IF NOT EXISTS audit_hashes
(
    chain_id UInt32 COMMENT 'EIP-155 chain id',
    from_block UInt32 COMMENT 'First block of the range, a multiple of 1,000',
    hash FixedString(16) COMMENT 'First 16 bytes of a SHA-256 over all tables: name, row count and sum of each table on one line',
    rows UInt64 COMMENT 'Rows of the range in all tables',
    sums Map(LowCardinality(String), UInt128) COMMENT 'By table: sum of the sipHash128 of its rows, modulo 2^128',
    hashed_at DateTime64(3, 'UTC') DEFAULT now64(3, 'UTC') COMMENT 'Time of hashing, UTC'
)
ENGINE = ReplacingMergeTree(hashed_at)
ORDER BY (chain_id, from_block)
SETTINGS index_granularity = 1024
COMMENT 'Range hashes of ranges of final blocks';
