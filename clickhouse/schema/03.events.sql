-- Layer 3, events of pools: swaps, liquidity events, the state after each log that changes a pool, and an index of
-- events. Amounts are raw token units. The only order is ord = block_number * 2^20 + log_index.

-- One row: one swap of two tokens in one pool. Read by ord, or through by_pair by (pair, ord).
CREATE TABLE IF NOT EXISTS swaps
(
    ord UInt64 COMMENT 'block_number * 2^20 + log_index of the Swap log' CODEC(Delta, ZSTD(1)),
    timestamp UInt32 COMMENT 'Block time, unix seconds, UTC' CODEC(Delta, ZSTD(1)),
    pair FixedString(20) COMMENT 'Pool address' CODEC(ZSTD(1)),
    leg UInt16 COMMENT 'Two tokens of the pool: 256 * index of token0 + index of token1; 1 in a pool of two tokens',
    dex LowCardinality(String) COMMENT 'Slug of the DEX',
    pool_type UInt8 COMMENT 'Type of the pool, 2 to 5, as in pools',
    token0 FixedString(20) COMMENT 'First token of the leg' CODEC(ZSTD(1)),
    token1 FixedString(20) COMMENT 'Second token of the leg' CODEC(ZSTD(1)),
    base_is_token0 Bool COMMENT 'Whether token0 is the base token',
    tx_hash FixedString(32) COMMENT 'Transaction hash' CODEC(ZSTD(1)),
    tx_index UInt32 COMMENT 'Index of the transaction in its block',
    maker Nullable(FixedString(20)) COMMENT 'Sender of the transaction; null if the node does not provide the sender' CODEC(ZSTD(1)),
    sender FixedString(20) COMMENT 'Sender named by the Swap event; zero bytes for vault pools' CODEC(ZSTD(1)),
    recipient FixedString(20) COMMENT 'Recipient named by the Swap event; zero bytes for vault pools' CODEC(ZSTD(1)),
    amount0 Int256 COMMENT 'Net token0, raw units; positive into the pool' CODEC(ZSTD(1)),
    amount1 Int256 COMMENT 'Net token1, raw units; positive into the pool' CODEC(ZSTD(1)),
    reserve0 UInt256 COMMENT 'Balance of token0 after the swap, raw units; V2: from the Sync of the swap' CODEC(ZSTD(1)),
    reserve1 UInt256 COMMENT 'Balance of token1 after the swap, raw units' CODEC(ZSTD(1)),
    sqrt_price_x96 UInt256 COMMENT 'V3: sqrtPriceX96 after the swap; 0 otherwise' CODEC(ZSTD(1)),
    liquidity UInt128 COMMENT 'V3: active liquidity after the swap; 0 otherwise' CODEC(ZSTD(1)),
    tick Int32 COMMENT 'V3: tick after the swap; 0 otherwise',
    price Float64 COMMENT 'Marginal price after the swap, raw token1 per raw token0; 0: none',
    price_usd Float64 COMMENT 'Marginal price after the swap in USD per whole base token, with the quote price of the end of the block; 0: none',
    quote_price_usd Float64 COMMENT 'USD per whole quote token, from the marginal price and the USD price of the base token; 0: none',
    native_usd Float64 COMMENT 'USD per whole native token at the end of the block; 0: none',
    amount_usd Decimal(38, 12) COMMENT 'Value in USD at the end of the block, each side up to the cap of its token; 0 if not tracked. Vault pools: all swaps of one transaction together at most the cash of the pool before and the tokens that came in' CODEC(ZSTD(1)),
    untracked_usd Decimal(38, 12) COMMENT 'Value in USD by untrusted prices; 0 if tracked or unknown' CODEC(ZSTD(1)),
    fee_usd Decimal(38, 12) ALIAS amount_usd * if(fee_pips > 100000, 0, fee_pips) / 1000000 COMMENT 'Fee in USD, rounded down; 0 if not tracked, and for a fee above 10 %',
    tracked Bool COMMENT 'Whether a token of the swap has a trusted price',
    fee_pips UInt32 COMMENT 'Fee of the pool at this swap, pips (hundredths of a basis point)',
    PROJECTION by_pair (SELECT pair, ord ORDER BY pair, ord)
)
ENGINE = MergeTree
ORDER BY ord
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 1000, default_compression_codec = 'ZSTD(3)'
COMMENT 'Final swaps; append only';

-- HEAD OF swaps PARTITION BY intDiv(ord, 268435456) ORDER BY ord

-- One row: liquidity or tokens added to or removed from a pool.
CREATE TABLE IF NOT EXISTS liquidity_events
(
    ord UInt64 COMMENT 'block_number * 2^20 + log_index',
    timestamp UInt32 COMMENT 'Block time, unix seconds, UTC',
    kind Enum8('mint' = 1, 'burn' = 2, 'collect' = 3, 'collect_protocol' = 4, 'flash' = 5) COMMENT 'Kind of event; a V3 burn moves no tokens, a later collect does',
    pair FixedString(20) COMMENT 'Pool address',
    dex LowCardinality(String) COMMENT 'Slug of the DEX',
    pool_type UInt8 COMMENT 'Type of the pool, 2 to 5, as in pools',
    token0 FixedString(20) COMMENT 'First token of the pool',
    token1 FixedString(20) COMMENT 'Second token of the pool',
    base_is_token0 Bool COMMENT 'Whether token0 is the base token',
    tx_hash FixedString(32) COMMENT 'Transaction hash',
    tx_index UInt32 COMMENT 'Index of the transaction in its block',
    maker Nullable(FixedString(20)) COMMENT 'Sender of the transaction; null if the node does not provide the sender',
    owner FixedString(20) COMMENT 'V3: owner of the position; V2: sender of a mint, recipient of a burn; vault pools: liquidity provider',
    recipient FixedString(20) COMMENT 'Recipient named by the event; zero bytes if it names none',
    amount0 UInt256 COMMENT 'Token0 moved, raw units; V3 burn: token0 that a collect can take out' CODEC(ZSTD(1)),
    amount1 UInt256 COMMENT 'Token1 moved, raw units; V3 burn: token1 that a collect can take out' CODEC(ZSTD(1)),
    liquidity Nullable(UInt256) COMMENT 'V3: liquidity; V2: LP tokens, raw units, null if their Transfer was not found; null for other events' CODEC(ZSTD(1)),
    tick_lower Nullable(Int32) COMMENT 'V3: lower tick of the position; null otherwise',
    tick_upper Nullable(Int32) COMMENT 'V3: upper tick of the position; null otherwise',
    amount0_usd Nullable(Decimal(38, 12)) COMMENT 'Value of amount0 in USD at the end of the block, by any price, a trusted one up to the cap of the token; null without a price',
    amount1_usd Nullable(Decimal(38, 12)) COMMENT 'Value of amount1 in USD at the end of the block, by any price, a trusted one up to the cap of the token; null without a price',
    trust UInt8 COMMENT 'Tokens with a trusted price: 0 none, 1 token0, 2 token1, 3 both',
    others_usd Nullable(Decimal(38, 12)) COMMENT 'Pools of more than two tokens: value in USD of the other moved tokens at the end of the block, by trusted prices; null if none has one',
    PROJECTION by_pair_kind (SELECT pair, ord, kind ORDER BY pair, ord)
)
ENGINE = MergeTree
ORDER BY ord
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 1000
COMMENT 'Final mints, burns, collects and flash payments; append only';

-- HEAD OF liquidity_events PARTITION BY intDiv(ord, 268435456) ORDER BY ord

-- One row: the state of a pool after one log that changed it (V2: each Sync; V3: each event).
CREATE TABLE IF NOT EXISTS pool_states
(
    ord UInt64 COMMENT 'block_number * 2^20 + log_index of the log that made this state' CODEC(Delta, ZSTD(1)),
    timestamp UInt32 COMMENT 'Block time, unix seconds, UTC' CODEC(Delta, ZSTD(1)),
    kind Enum8('sync' = 1, 'initialize' = 2, 'swap' = 3, 'mint' = 4, 'burn' = 5, 'collect' = 6, 'collect_protocol' = 7, 'flash' = 8, 'fee' = 9, 'register' = 10) COMMENT 'Event that changed the state; fee, register: a fee change or a registration of tokens that added to doubts',
    pair FixedString(20) COMMENT 'Pool address' CODEC(ZSTD(1)),
    dex LowCardinality(String) COMMENT 'Slug of the DEX',
    pool_type UInt8 COMMENT 'Type of the pool, 2 to 5, as in pools',
    token0 FixedString(20) COMMENT 'First token of the pool' CODEC(ZSTD(1)),
    token1 FixedString(20) COMMENT 'Second token of the pool' CODEC(ZSTD(1)),
    base_is_token0 Bool COMMENT 'Whether token0 is the base token',
    tx_hash FixedString(32) COMMENT 'Transaction hash' CODEC(ZSTD(1)),
    tx_index UInt32 COMMENT 'Index of the transaction in its block',
    maker Nullable(FixedString(20)) COMMENT 'Sender of the transaction; null if the node does not provide the sender' CODEC(ZSTD(1)),
    reserve0 UInt256 COMMENT 'Balance of token0, raw units' CODEC(ZSTD(1)),
    reserve1 UInt256 COMMENT 'Balance of token1, raw units' CODEC(ZSTD(1)),
    sqrt_price_x96 UInt256 COMMENT 'V3: sqrtPriceX96; 0 otherwise' CODEC(ZSTD(1)),
    liquidity UInt128 COMMENT 'V3: active liquidity; 0 otherwise' CODEC(ZSTD(1)),
    tick Int32 COMMENT 'V3: tick; 0 otherwise',
    doubts UInt8 COMMENT 'Vault pools: reasons why the pool backs no price, as a sum: 1 asset manager or managed balance, 2 a swap did not fit the weights, 4 a weight below 1 % or a fee above 10 %; 0: none. Never falls',
    price Float64 COMMENT 'Marginal price of this state, raw token1 per raw token0; 0: none',
    balances Array(UInt256) COMMENT 'Weighted and stable pools: balance of each token, raw units, in the order of pools.tokens; empty otherwise' CODEC(ZSTD(1)),
    unswapped Array(Float64) COMMENT 'Part of ln(price) of each leg that came without a swap, at the end of the block; empty: none, or a later state of the pool in this block has it',
    walked_liquidity Float64 COMMENT 'V3: liquidity of the constant product pool that pays out as much within 2 % of the price, on the poorer side, raw; -1: not walked, because the pool changed again in the block or is older than the start block' CODEC(ZSTD(1)),
    near0 Float64 COMMENT 'V3: token0 paid out while the price rises by half, raw units; 0 if not walked' CODEC(ZSTD(1)),
    near1 Float64 COMMENT 'V3: token1 paid out while the price falls by half, raw units; 0 if not walked' CODEC(ZSTD(1)),
    PROJECTION by_pair_kind (SELECT pair, ord, kind ORDER BY pair, ord)
)
ENGINE = MergeTree
ORDER BY ord
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 1000
COMMENT 'Final pool states; append only';

-- HEAD OF pool_states PARTITION BY intDiv(ord, 268435456) ORDER BY ord

-- One row: the searchable columns of an event of /activity. The row with the same ord in swaps, liquidity_events or
-- pool_states has the values. Queries read by ord, or by pair, token0 or token1 through the projection of that key.
CREATE TABLE IF NOT EXISTS events
(
    ord UInt64 COMMENT 'block_number * 2^20 + log_index' CODEC(Delta, ZSTD(1)),
    kind Enum8('swap' = 1, 'mint' = 2, 'burn' = 3, 'sync' = 4) COMMENT 'swap: in swaps; mint, burn: in liquidity_events; sync: in pool_states',
    pair FixedString(20) COMMENT 'Pool address' CODEC(ZSTD(1)),
    token0 FixedString(20) COMMENT 'token0 of that row' CODEC(ZSTD(1)),
    token1 FixedString(20) COMMENT 'token1 of that row' CODEC(ZSTD(1)),
    maker Nullable(FixedString(20)) COMMENT 'Sender of the transaction; null if the node does not provide the sender' CODEC(ZSTD(1)),
    INDEX by_maker maker TYPE bloom_filter(0.01) GRANULARITY 4,
    PROJECTION by_pair (SELECT pair, ord, kind, token0, token1 ORDER BY pair, ord),
    PROJECTION by_token0 (SELECT token0, ord, kind ORDER BY token0, ord),
    PROJECTION by_token1 (SELECT token1, ord, kind ORDER BY token1, ord)
)
ENGINE = MergeTree
ORDER BY ord
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 1000
COMMENT 'Final events; append only';

-- HEAD OF events PARTITION BY intDiv(ord, 268435456) ORDER BY ord
