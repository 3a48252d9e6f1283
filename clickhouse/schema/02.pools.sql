-- Layer 2, tokens and pools.

-- One row: the metadata of a token, read at one block. If a token has several rows, the row with the largest
-- version is valid.
CREATE TABLE IF NOT EXISTS tokens
(
    address FixedString(20) COMMENT 'Address of the token contract',
    symbol Nullable(String) COMMENT 'Symbol without control characters, at most 64 characters; null if the call symbol() reverts or returns no text',
    name Nullable(String) COMMENT 'Name without control characters, at most 128 characters; null if the call name() reverts or returns no text',
    decimals Nullable(UInt8) COMMENT 'Decimals, 0 to 77; null if the call decimals() reverts or returns a larger number, if symbol and name are missing too and it returns 0, or if it returned different numbers',
    version UInt64 COMMENT 'Number of the block at which the metadata was read; in later rows of a token plus a multiple of 2^32, so that they win (src/ingest/pools/tokenBook.ts)'
)
ENGINE = ReplacingMergeTree(version)
ORDER BY address
COMMENT 'Token metadata, read when the first pool of a token appears, and again when it may have changed';

-- One row: one pool, created by a configured factory. Key: the pool address.
CREATE TABLE IF NOT EXISTS pools
(
    ord UInt64 COMMENT 'Position of the creation event in the chain, block_number * 2^20 + log_index; for a pool older than the start block, the position of its first stored log',
    address FixedString(20) COMMENT 'Address of the pool contract; for a pool without a contract, the last 20 bytes of its id',
    dex LowCardinality(String) COMMENT 'Short name of the DEX, as in the chain description',
    protocol LowCardinality(String) COMMENT 'Name of the protocol, as in the chain description',
    pool_type UInt8 COMMENT '2 = constant product (V2), 3 = concentrated liquidity (V3), 4 = weighted, 5 = stable, 6 = crypto, 7 = bins',
    factory FixedString(20) COMMENT 'Address of the factory that created the pool; for a pool of a vault, the vault',
    token0 FixedString(20) COMMENT 'Address of the pool''s first token, in the order of the contract',
    token1 FixedString(20) COMMENT 'Address of the pool''s second token, in the order of the contract',
    base_is_token0 Bool COMMENT 'Whether token0 is the base token; fixed when the ingester first sees the pool',
    tokens Array(FixedString(20)) COMMENT 'Weighted and stable pools: addresses of all tokens in the order of the contract. By default, prices are quoted between token0 and token1. Empty for other pools',
    weights Array(UInt64) COMMENT 'Weighted pools: weight of each token, times 10^18, in the order of tokens; empty for other pools',
    doubts UInt8 COMMENT 'Reasons why the pool backs no price, as known when the pool was first stored; a sum as in pool_states.doubts',
    fee_pips UInt32 COMMENT 'Swap fee at the creation of the pool, in hundredths of a basis point',
    tick_spacing Int32 COMMENT 'V3: tick spacing of the pool; bins: bin step; 0 for other pools',
    scale_decimals Array(UInt8) COMMENT 'Stable pools of two tokens: decimals by which the contract scales token0 and token1; empty for other pools, or if unknown',
    pool_id Nullable(FixedString(32)) COMMENT 'Id of a pool without a contract; its last 20 bytes are the address. Null for other pools',
    hooks Nullable(FixedString(20)) COMMENT 'Uniswap V4: contract that the pool calls before or after its swaps; null without one, and for other pools',
    hook_bits Nullable(UInt16) COMMENT 'PancakeSwap Infinity: permissions of the hook, as the bits of a Uniswap V4 hook; null without a hook, and for other pools',
    created_block Nullable(UInt32) COMMENT 'Number of the block with the creation event; null if the pool is older than the start block',
    created_at Nullable(UInt32) COMMENT 'Time of the block created_block, unix seconds, UTC; null if created_block is null',
    created_tx Nullable(FixedString(32)) COMMENT 'Hash of the transaction with the creation event; null if created_block is null'
)
ENGINE = MergeTree
ORDER BY address
SETTINGS index_granularity = 256, non_replicated_deduplication_window = 1000
COMMENT 'Pools of configured factories; rows are only appended';

-- HEAD OF pools PARTITION BY intDiv(ord, 268435456) ORDER BY ord
