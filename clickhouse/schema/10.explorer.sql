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
    proxy LowCardinality(String) COMMENT 'Kind of proxy, one of PROXY_KINDS in domain/proxies.ts; empty if the contract is not a known proxy',
    implementation FixedString(20) COMMENT 'Contract that the proxy delegates to, as of checked_block; zero bytes if the address is no proxy, or if the proxy has none or several',
    beacon FixedString(20) COMMENT 'Beacon of a beacon proxy; zero bytes for other contracts',
    facets String COMMENT 'Facets of a diamond according to facetAddresses(): 0x addresses, separated by commas; empty for other contracts',
    fixed Bool COMMENT 'Whether the code can never change: it has no operation that could end the contract or run other code',
    checked_block UInt32 COMMENT 'Number of the block for which the node answered',
    version UInt64 COMMENT 'Time when this row was written, unix milliseconds, UTC'
)
ENGINE = ReplacingMergeTree(version)
ORDER BY address
SETTINGS index_granularity = 1024
COMMENT 'Code and proxy target of each address, as the node reported them';

-- One row: what stood at an address from a block on, until the address's next row. The first row says when the code was
-- first read; before it, the code is unknown. If an address has several rows of one block, the newest one is valid.
-- Neighbouring rows may be equal. The ingester writes these rows while it follows the head. They cannot be rebuilt from
-- logs.
CREATE TABLE IF NOT EXISTS code_spans
(
    address FixedString(20) COMMENT 'Address whose code was queried',
    from_block UInt32 COMMENT 'Number of the first block at whose end the node saw this code and these targets',
    code_hash FixedString(32) COMMENT 'keccak256 of the runtime code; zero bytes if the address had no code',
    code_size UInt32 COMMENT 'Size of the runtime code in bytes; 0 if the address had no code',
    proxy LowCardinality(String) COMMENT 'Kind of proxy, as in contract_codes',
    implementation FixedString(20) COMMENT 'Contract that the proxy delegates to; zero bytes if there is none or several',
    beacon FixedString(20) COMMENT 'Beacon of a beacon proxy; zero bytes for other contracts',
    facets String COMMENT 'Facets of a diamond, as in contract_codes',
    fixed Bool COMMENT 'Whether the code can never change, as in contract_codes',
    version UInt64 COMMENT 'Time when this row was written, unix milliseconds, UTC'
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (address, from_block)
SETTINGS index_granularity = 1024
COMMENT 'Code and proxy targets of each address over time, as the node reported them';
