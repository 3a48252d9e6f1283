-- Layer 15, results of background tasks (traits of tokens, and the TVL of past days), and the tokens of
-- imported token lists.

-- One row: the traits of one token. If a token has several rows, the newest one is valid. Counts cover the
-- newest 1,000 swaps of the token. A background task of the ingester writes these rows while the ingester
-- follows the head.
CREATE TABLE IF NOT EXISTS token_traits
(
    token FixedString(20) COMMENT 'Address of the token contract',
    checked_block UInt32 COMMENT 'Number of the block whose state the row describes',
    swaps UInt64 COMMENT 'Number of stored swaps of the token when the row was written',
    buys UInt32 COMMENT 'Number of buys in which the amount that left the pool could be compared with the amount that arrived at the buyer',
    buy_tax Float64 COMMENT 'Median part of a bought amount that does not arrive, 0 to 1; 0 without a compared swap',
    sells UInt32 COMMENT 'Number of sales in which the amount that the seller sent could be compared with the amount that arrived at the pool',
    sell_tax Float64 COMMENT 'Median part of a sold amount that the pool does not get, 0 to 1; 0 without a compared swap',
    buyers UInt32 COMMENT 'Number of different senders of transactions that bought the token',
    sellers UInt32 COMMENT 'Number of different senders of transactions that sold the token, without its creator',
    sale_fails Nullable(Bool) COMMENT 'Whether sales fail when they are simulated at checked_block: transfers to the pool by holders and by the router, and those of a new address; null if they were not simulated, or undecided',
    mintable Nullable(Bool) COMMENT 'Whether the code or the verified ABI has a function that mints; null if the code is unknown',
    pausable Nullable(Bool) COMMENT 'Whether the code or the verified ABI has a function that pauses transfers; null if the code is unknown',
    bridged Nullable(Bool) COMMENT 'Whether the code has the functions of a bridged token; null if the code is unknown',
    forked Nullable(Bool) COMMENT 'Whether the contract existed at the fork block of the chain; null if the node did not say, or the chain has no fork block',
    kept_at_zero UInt256 COMMENT 'Amount that was sent to the zero address but is still part of totalSupply() of the contract, raw units',
    version UInt64 COMMENT 'Time when this row was written, unix milliseconds, UTC'
)
ENGINE = ReplacingMergeTree(version)
ORDER BY token
SETTINGS index_granularity = 1024
COMMENT 'Traits of tokens, measured by the ingester';

-- One row: the TVL of one DEX at the end of one UTC day. Computed once from final blocks, so it never changes.
CREATE TABLE IF NOT EXISTS dex_days
(
    day UInt32 COMMENT 'Start of the UTC day, unix seconds, UTC',
    dex LowCardinality(String) COMMENT 'Short name of the DEX; empty in the row that marks the day as computed',
    tvl_usd Float64 COMMENT 'TVL in USD at the end of the last block of the day, by the prices of that block; 0 in the row that marks the day',
    version UInt64 COMMENT 'Time when this row was written, unix milliseconds, UTC'
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (day, dex)
SETTINGS index_granularity = 1024
COMMENT 'TVL of each DEX at the end of past days';

-- One row: a token of an imported token list (tokenlists.org). If a token has several rows of a list, the newest one is
-- valid.
CREATE TABLE IF NOT EXISTS listed_tokens
(
    chain_id UInt32 COMMENT 'EIP-155 id of the chain of the token',
    address FixedString(20) COMMENT 'Address of the token contract',
    list LowCardinality(String) COMMENT 'Name of the token list',
    logo_url String COMMENT 'URL of the logo of the token; empty if the list has none',
    version UInt64 COMMENT 'Time when this row was written, unix milliseconds, UTC'
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (chain_id, address, list)
SETTINGS index_granularity = 1024
COMMENT 'Tokens of imported token lists';
