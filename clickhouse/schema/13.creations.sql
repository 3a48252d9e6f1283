-- Layer 13, creations of contracts as the node reports them, for contracts without a stored receipt, such as contracts
-- that other contracts created.

-- One row: the node's answer about the creation of one contract; if a contract has several rows, the newest
-- one is valid. Only creations in final blocks are stored. The ingester writes these rows while it follows
-- the head. They cannot be rebuilt from logs.
CREATE TABLE IF NOT EXISTS contract_creations
(
    address FixedString(20) COMMENT 'Address of the created contract',
    creator Nullable(FixedString(20)) COMMENT 'Sender of the creating transaction; null if the node does not know the transaction',
    factory Nullable(FixedString(20)) COMMENT 'Contract that created this contract; null if unknown, or if a transaction created the contract directly',
    tx_hash FixedString(32) COMMENT 'Hash of the creating transaction',
    block UInt32 COMMENT 'Number of the block of the creation',
    timestamp UInt32 COMMENT 'Time of the creation block, unix seconds, UTC; 0 if unknown',
    version UInt64 COMMENT 'Time when this row was written, unix milliseconds, UTC'
)
ENGINE = ReplacingMergeTree(version)
ORDER BY address
SETTINGS index_granularity = 1024
COMMENT 'Creations of contracts, as the node reported them';
