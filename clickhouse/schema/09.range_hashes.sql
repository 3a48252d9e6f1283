-- Layer 9, range hashes: a hash over the stored rows of each range of 1,000 final blocks, to compare two deployments.

-- One row: one range, written once the whole range is final. The hash does not depend on the order or the batches of
-- inserts. src/ingest/repair/rangeHash.ts defines the hash. A range hashed twice has equal rows.
CREATE TABLE IF NOT EXISTS audit_hashes
(
    chain_id UInt32 COMMENT 'EIP-155 chain id',
    from_block UInt32 COMMENT 'First block of the range, a multiple of 1,000',
    hash FixedString(16) COMMENT 'Hash over all tables: the first half of the SHA-256 of their names, row counts and sums, a line each',
    rows UInt64 COMMENT 'Rows of the range in all tables',
    sums Map(LowCardinality(String), UInt128) COMMENT 'By table: the sum modulo 2^128 of the sipHash128 of each row',
    hashed_at DateTime64(3, 'UTC') DEFAULT now64(3, 'UTC') COMMENT 'When it was hashed, UTC'
)
ENGINE = ReplacingMergeTree(hashed_at)
ORDER BY (chain_id, from_block)
SETTINGS index_granularity = 1024
COMMENT 'Range hashes of ranges of final blocks';
