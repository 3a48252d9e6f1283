-- Layer 13, what the node was asked of creations: who sent the transaction that made a contract, where no receipt that was read
-- tells, as of contracts that contracts made.

-- One row: what the node said of the creation of one contract; the newest version counts. Of final blocks alone, written beside
-- the chain's own data while the head is followed: nothing of it can be made again from logs.
CREATE TABLE IF NOT EXISTS contract_creations
(
    address FixedString(20) COMMENT 'The contract',
    creator Nullable(FixedString(20)) COMMENT 'Sender of the transaction; null: the node does not know the transaction',
    factory Nullable(FixedString(20)) COMMENT 'The contract that made it, where that is known',
    tx_hash FixedString(32) COMMENT 'Transaction that made it',
    block UInt32 COMMENT 'Its block',
    timestamp UInt32 COMMENT 'Block time, unix seconds, UTC; 0: not known',
    version UInt64 COMMENT 'When it was written, unix milliseconds, UTC'
)
ENGINE = ReplacingMergeTree(version)
ORDER BY address
SETTINGS index_granularity = 1024
COMMENT 'Creations of contracts as the node told';
