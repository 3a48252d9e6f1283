-- Layer 10, the explorer: who created which contract, and the code at each address.

-- One row: a contract that a transaction created directly. Receipts do not show contracts that other contracts created.
CREATE TABLE IF NOT EXISTS created_contracts
(
    ord UInt64 COMMENT 'Position in the chain: block_number * 2^20 + index of the transaction. Orders creations, not logs',
    timestamp UInt32 COMMENT 'Block time, unix seconds, UTC',
    address FixedString(20) COMMENT 'Address of the created contract',
    creator Nullable(FixedString(20)) COMMENT 'Sender of the transaction; null if the node does not report senders',
    tx_hash FixedString(32) COMMENT 'Hash of the transaction',
    tx_index UInt32 COMMENT 'Index of the transaction in its block'
)
ENGINE = MergeTree
ORDER BY (address, ord)
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 1000
COMMENT 'Contracts created directly by transactions of final blocks; rows are only appended';

-- HEAD OF created_contracts PARTITION BY intDiv(ord, 268435456) ORDER BY ord

-- One row: the node's answer about the code at an address; if an address has several rows, the newest one is
-- valid. The ingester writes these rows while it follows the head. They cannot be rebuilt from logs.
CREATE TABLE IF NOT EXISTS contract_codes
(
    address FixedString(20) COMMENT 'Address whose code was queried',
    code_hash FixedString(32) COMMENT 'keccak256 of the runtime code; zero bytes if the address has no code',
    code_size UInt32 COMMENT 'Size of the runtime code in bytes; 0 if the address has no code',
    proxy LowCardinality(String) COMMENT 'Kind of proxy: eip1967, eip1967_beacon, eip1822, eip1167, openzeppelin_legacy or eip2535; empty if the contract is not a known proxy',
    implementation FixedString(20) COMMENT 'Contract that the proxy delegates to, as of checked_block; zero bytes if the address is no proxy, or if the proxy has none or several',
    beacon FixedString(20) COMMENT 'Beacon of an eip1967_beacon proxy; zero bytes for other contracts',
    checked_block UInt32 COMMENT 'Number of the block for which the node answered',
    version UInt64 COMMENT 'Time when this row was written, unix milliseconds, UTC'
)
ENGINE = ReplacingMergeTree(version)
ORDER BY address
SETTINGS index_granularity = 1024
COMMENT 'Code and proxy target of each address, as the node reported them';
