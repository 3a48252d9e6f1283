-- Layer 2, tokens and pools.

-- One row: a token's metadata as of one block; the largest version counts.
CREATE TABLE IF NOT EXISTS tokens
(
    address FixedString(20) COMMENT 'Token contract',
    symbol Nullable(String) COMMENT 'Symbol, cleaned of control characters, at most 64 characters; null if the call reverts or returns no text',
    name Nullable(String) COMMENT 'Name, cleaned of control characters, at most 128 characters; null if the call reverts or returns no text',
    decimals Nullable(UInt8) COMMENT 'Decimals, 0-77; null if the call reverts or returns a larger number',
    version UInt64 COMMENT 'Block as of which the metadata was read'
)
ENGINE = ReplacingMergeTree(version)
ORDER BY address
COMMENT 'Token metadata, read once per token when its first pool appears';

-- One row: one pool of a configured factory. Key: address.
CREATE TABLE IF NOT EXISTS pools
(
    ord UInt64 COMMENT 'ord of the creation event; for a pool older than the start block, ord of its first stored log',
    address FixedString(20) COMMENT 'Pool contract',
    dex LowCardinality(String) COMMENT 'Slug of the DEX',
    protocol LowCardinality(String) COMMENT 'Protocol name as in the chain description',
    pool_type UInt8 COMMENT '2 = V2 constant product, 3 = V3 concentrated, 4 = weighted, 5 = stable',
    factory FixedString(20) COMMENT 'Factory of the pool; for a vault pool the vault',
    token0 FixedString(20) COMMENT 'First token in chain order',
    token1 FixedString(20) COMMENT 'Second token in chain order',
    base_is_token0 Bool COMMENT 'Whether token0 is the base token; fixed when the pool is first seen',
    tokens Array(FixedString(20)) COMMENT 'Weighted and stable pools: all tokens in chain order, of which token0 and token1 are the default leg; empty for other pools',
    weights Array(UInt64) COMMENT 'Weighted pools: weight of each token, times 10^18; empty for other pools',
    doubts UInt8 COMMENT 'Vault pools: reasons known when the pool was listed why the pool backs no price, as in pool_states; 0 otherwise',
    fee_pips UInt32 COMMENT 'Fee at creation, hundredths of a basis point',
    tick_spacing Int32 COMMENT 'V3 tick spacing; 0 otherwise',
    created_block Nullable(UInt32) COMMENT 'Block of the creation event; null if the pool is older than the start block',
    created_at Nullable(UInt32) COMMENT 'Time of that block, unix seconds, UTC; null if created_block is null',
    created_tx Nullable(FixedString(32)) COMMENT 'Transaction of the creation event; null if created_block is null'
)
ENGINE = MergeTree
ORDER BY address
SETTINGS index_granularity = 256, non_replicated_deduplication_window = 1000
COMMENT 'Pools of configured factories; append only';

-- HEAD OF pools PARTITION BY intDiv(ord, 268435456) ORDER BY ord
