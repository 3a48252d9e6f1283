-- Layer 10, the explorer: who created which contract, and the code at each address.

-- One row: a contract that a transaction created directly. Receipts do not show contracts that other contracts created.
CREATE TABLE IF NOT EXISTS created_contracts
(
    ord UInt64 COMMENT 'block_number * 2^20 + index of the transaction. Orders creations, not logs',
    timestamp UInt32 COMMENT 'Block time, unix seconds, UTC',
    address FixedString(20) COMMENT 'Created contract',
    creator Nullable(FixedString(20)) COMMENT 'Sender of the transaction; null if the node does not provide the sender',
    tx_hash FixedString(32) COMMENT 'Transaction hash',
    tx_index UInt32 COMMENT 'Index of the transaction in its block'
)
ENGINE = MergeTree
ORDER BY (address, ord)
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 1000
COMMENT 'Contracts created by final transactions; append only';

-- HEAD OF created_contracts PARTITION BY intDiv(ord, 268435456) ORDER BY ord

-- One row: the node's answer about the code at an address; the newest version counts. The ingester writes these rows
-- while it follows the head. They cannot be rebuilt from logs.
CREATE TABLE IF NOT EXISTS contract_codes
(
    address FixedString(20) COMMENT 'Queried address',
    code_hash FixedString(32) COMMENT 'keccak256 of the runtime code; zero bytes: there is no code',
    code_size UInt32 COMMENT 'Bytes of runtime code; 0: none',
    proxy LowCardinality(String) COMMENT 'eip1967, eip1967_beacon, eip1822, eip1167, openzeppelin_legacy or eip2535; empty: not a known proxy',
    implementation FixedString(20) COMMENT 'Implementation of the proxy at checked_block; zero bytes: no proxy, unknown, or several contracts',
    beacon FixedString(20) COMMENT 'Beacon of an eip1967_beacon proxy; zero bytes otherwise',
    checked_block UInt32 COMMENT 'Block as of which the node answered',
    version UInt64 COMMENT 'Time of writing, unix milliseconds, UTC'
)
ENGINE = ReplacingMergeTree(version)
ORDER BY address
SETTINGS index_granularity = 1024
COMMENT 'Code and proxy of each address, from the node';
