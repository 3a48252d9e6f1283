-- Layer 13, creations of contracts as the node reports them, for contracts without a stored receipt, such as contracts
-- that other contracts created.

-- One row: the node's answer about the creation of one contract; the newest version counts. Only for final blocks. The
-- ingester writes these rows while it follows the head. They cannot be rebuilt from logs.
CREATE TABLE IF NOT EXISTS contract_creations
(
    address FixedString(20) COMMENT 'Created contract',
    creator Nullable(FixedString(20)) COMMENT 'Sender of the transaction; null: the node does not know the transaction',
    factory Nullable(FixedString(20)) COMMENT 'Contract that created it; null if unknown, or if a transaction created it directly',
    tx_hash FixedString(32) COMMENT 'Creating transaction',
    block UInt32 COMMENT 'Block of the creation',
    timestamp UInt32 COMMENT 'Block time, unix seconds, UTC; 0: unknown',
    version UInt64 COMMENT 'Time of writing, unix milliseconds, UTC'
)
ENGINE = ReplacingMergeTree(version)
ORDER BY address
SETTINGS index_granularity = 1024
COMMENT 'Creations of contracts, from the node';
