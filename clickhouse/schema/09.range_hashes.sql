-- Layer 9, range hashes: a hash over the stored rows of each range of 1,000 final blocks, to compare two deployments.

-- One row: the hash over one range, written when all its blocks are final. The hash does not depend on the
-- order of the inserts or on their size. src/ingest/repair/rangeHash.ts defines the hash. If a range is
-- hashed twice, both rows are equal.
CREATE TABLE IF NOT EXISTS audit_hashes
(
    chain_id UInt32 COMMENT 'EIP-155 id of the chain',
    from_block UInt32 COMMENT 'First block of the range, a multiple of 1,000',
    hash FixedString(16) COMMENT 'First 16 bytes of the SHA-256 of a text with one line per table: name, row count and sum of the table',
    rows UInt64 COMMENT 'Number of rows of the range in all tables together',
    sums Map(LowCardinality(String), UInt128) COMMENT 'For each table, the sum of the sipHash128 of its rows, modulo 2^128',
    hashed_at DateTime64(3, 'UTC') DEFAULT now64(3, 'UTC') COMMENT 'Time when the range was hashed, UTC'
)
ENGINE = ReplacingMergeTree(hashed_at)
ORDER BY (chain_id, from_block)
SETTINGS index_granularity = 1024
COMMENT 'Hashes over the rows of 1,000 final blocks each';
