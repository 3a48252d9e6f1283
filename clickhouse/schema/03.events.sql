-- Layer 3, events of pools: swaps, liquidity events, the state after each log that changes a pool, and an
-- index of events. Amounts are raw token units. Events are ordered by ord alone: block_number * 2^20 +
-- log_index.

-- One row: one swap of two tokens in one pool. The table is sorted by ord. The projection of_pair is sorted
-- by (pair, ord). It has the columns of /activity, from which the figures of a pair follow too.
CREATE TABLE IF NOT EXISTS swaps
(
    ord UInt64 COMMENT 'Position of the Swap log in the chain: block_number * 2^20 + log_index' CODEC(Delta, ZSTD(1)),
    timestamp UInt32 COMMENT 'Block time, unix seconds, UTC' CODEC(Delta, ZSTD(1)),
    pair FixedString(20) COMMENT 'Address of the pool' CODEC(ZSTD(1)),
    leg UInt16 COMMENT 'The two tokens traded, in a pool with any number of tokens: 256 * index of token0 + index of token1. A pool of two tokens has leg 1',
    dex LowCardinality(String) COMMENT 'Short name of the DEX',
    pool_type UInt8 COMMENT 'Type of the pool, as in pools: 2 constant product, 3 concentrated, 4 weighted, 5 stable, 6 crypto, 7 bins',
    token0 FixedString(20) COMMENT 'Address of the first of the two tokens traded, in the order of the pool' CODEC(ZSTD(1)),
    token1 FixedString(20) COMMENT 'Address of the second of the two tokens traded, in the order of the pool' CODEC(ZSTD(1)),
    base_is_token0 Bool COMMENT 'Whether token0 is the base token',
    tx_hash FixedString(32) COMMENT 'Hash of the transaction' CODEC(ZSTD(1)),
    tx_index UInt32 COMMENT 'Index of the transaction in its block',
    maker Nullable(FixedString(20)) COMMENT 'Sender of the transaction; null if the node does not report senders' CODEC(ZSTD(1)),
    sender FixedString(20) COMMENT 'Sender named by the Swap event; zero bytes for pools of a vault' CODEC(ZSTD(1)),
    recipient FixedString(20) COMMENT 'Recipient named by the Swap event; zero bytes for pools of a vault' CODEC(ZSTD(1)),
    amount0 Int256 COMMENT 'Net amount of token0 that flowed into the pool, raw units; negative if it flowed out' CODEC(ZSTD(1)),
    amount1 Int256 COMMENT 'Net amount of token1 that flowed into the pool, raw units; negative if it flowed out' CODEC(ZSTD(1)),
    reserve0 UInt256 COMMENT 'Pool balance of token0 after the swap, raw units; for V2 from the Sync event of the swap' CODEC(ZSTD(1)),
    reserve1 UInt256 COMMENT 'Pool balance of token1 after the swap, raw units; for V2 from the Sync event of the swap' CODEC(ZSTD(1)),
    sqrt_price_x96 UInt256 COMMENT 'V3: sqrtPriceX96 after the swap; 0 for other pools' CODEC(ZSTD(1)),
    liquidity UInt128 COMMENT 'V3: active liquidity after the swap; 0 for other pools' CODEC(ZSTD(1)),
    tick Int32 COMMENT 'V3: tick after the swap; Camelot and bins: as in pool_states; 0 for other pools',
    price Float64 COMMENT 'Marginal price of the pool after the swap, raw token1 per raw token0; 0 if there is no price',
    price_usd Float64 COMMENT 'Marginal price of the pool after the swap, in USD per whole base token. USD per quote token is taken at the end of the block. 0 if there is no price',
    quote_price_usd Float64 COMMENT 'USD per whole quote token, derived from the marginal price and the USD price of the base token; 0 if there is no price',
    native_usd Float64 COMMENT 'USD per whole native token of the chain, at the end of the block; 0 if there is no price',
    amount_usd Decimal(38, 12) COMMENT 'Value in USD at the end of the block, each side limited to the cap of its token; 0 if not tracked. Vault pools: all swaps of one transaction together are worth at most the pool''s cash before the transaction plus the tokens that it brought in' CODEC(ZSTD(1)),
    untracked_usd Decimal(38, 12) COMMENT 'Value of the swap in USD, by prices that are not trusted; 0 if a token has a trusted price, or if no price is known' CODEC(ZSTD(1)),
    fee_usd Decimal(38, 12) ALIAS amount_usd * if(fee_pips > 100000, 0, fee_pips) / 1000000 COMMENT 'Fee in USD, rounded down; 0 if not tracked, and for a fee above 10 %',
    tracked Bool COMMENT 'Whether at least one token of the swap has a trusted price; USD volume includes only tracked swaps',
    price_counts UInt8 COMMENT 'Values that use the USD prices of the swap, as a sum: 1 bars of token0, 2 bars of token1, 4 highs and lows of token0, 8 highs and lows of token1',
    fee_pips UInt32 COMMENT 'Fee of the pool at this swap, in pips: hundredths of a basis point',
    PROJECTION of_pair (SELECT pair, ord, timestamp, leg, dex, pool_type, token0, token1, base_is_token0, tx_hash, maker, sender, recipient, amount0, amount1, reserve0, reserve1, sqrt_price_x96, liquidity, tick, price, price_usd, quote_price_usd, amount_usd, fee_pips, tracked ORDER BY pair, ord)
)
ENGINE = MergeTree
ORDER BY ord
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 1000, default_compression_codec = 'ZSTD(3)'
COMMENT 'Swaps in final blocks; rows are only appended';

-- HEAD OF swaps PARTITION BY intDiv(ord, 268435456) ORDER BY ord

-- One row: one event that adds liquidity or tokens to a pool, or removes them.
CREATE TABLE IF NOT EXISTS liquidity_events
(
    ord UInt64 COMMENT 'Position of the log in the chain: block_number * 2^20 + log_index',
    timestamp UInt32 COMMENT 'Block time, unix seconds, UTC',
    kind Enum8('mint' = 1, 'burn' = 2, 'collect' = 3, 'collect_protocol' = 4, 'flash' = 5) COMMENT 'Kind of event. A V3 burn moves no tokens; a later collect pays them out',
    pair FixedString(20) COMMENT 'Address of the pool',
    dex LowCardinality(String) COMMENT 'Short name of the DEX',
    pool_type UInt8 COMMENT 'Type of the pool, as in pools: 2 constant product, 3 concentrated, 4 weighted, 5 stable, 6 crypto, 7 bins',
    token0 FixedString(20) COMMENT 'Address of the first token of the pool',
    token1 FixedString(20) COMMENT 'Address of the second token of the pool',
    base_is_token0 Bool COMMENT 'Whether token0 is the base token',
    tx_hash FixedString(32) COMMENT 'Hash of the transaction',
    tx_index UInt32 COMMENT 'Index of the transaction in its block',
    maker Nullable(FixedString(20)) COMMENT 'Sender of the transaction; null if the node does not report senders',
    owner FixedString(20) COMMENT 'V3: owner of the position; V2: sender of a mint, recipient of a burn; pools of a vault: liquidity provider',
    recipient FixedString(20) COMMENT 'Recipient named by the event; zero bytes if the event names none',
    amount0 UInt256 COMMENT 'Amount of token0 moved, raw units; for a V3 burn, the token0 that a later collect can pay out' CODEC(ZSTD(1)),
    amount1 UInt256 COMMENT 'Amount of token1 moved, raw units; for a V3 burn, the token1 that a later collect can pay out' CODEC(ZSTD(1)),
    liquidity Nullable(UInt256) COMMENT 'V3: liquidity added or removed. V2: LP tokens minted or burned, raw units; null if their Transfer log was not found. Null for other events' CODEC(ZSTD(1)),
    tick_lower Nullable(Int32) COMMENT 'V3: lower tick of the position; null for other pools',
    tick_upper Nullable(Int32) COMMENT 'V3: upper tick of the position; null for other pools',
    amount0_usd Nullable(Decimal(38, 12)) COMMENT 'Value of amount0 in USD at the end of the block, by a trusted price up to the cap of the token, or by an untrusted price; null without a price',
    amount1_usd Nullable(Decimal(38, 12)) COMMENT 'Value of amount1 in USD at the end of the block, by a trusted price up to the cap of the token, or by an untrusted price; null without a price',
    trust UInt8 COMMENT 'Tokens with a trusted price: 0 neither, 1 token0, 2 token1, 3 both',
    others_usd Nullable(Decimal(38, 12)) COMMENT 'Pools of more than two tokens: USD value of the moved tokens other than token0 and token1, at the end of the block, by trusted prices; null if none of these tokens has a trusted price',
    PROJECTION by_pair_kind (SELECT pair, ord, kind ORDER BY pair, ord)
)
ENGINE = MergeTree
ORDER BY ord
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 1000
COMMENT 'Mints, burns, collects and flash payments in final blocks; rows are only appended';

-- HEAD OF liquidity_events PARTITION BY intDiv(ord, 268435456) ORDER BY ord

-- One row: the state of a pool after one log that changed the state. V2 pools have a row for each
-- Sync, V3 pools for each event.
CREATE TABLE IF NOT EXISTS pool_states
(
    ord UInt64 COMMENT 'Position in the chain of the log that led to this state: block_number * 2^20 + log_index' CODEC(Delta, ZSTD(1)),
    timestamp UInt32 COMMENT 'Block time, unix seconds, UTC; for a found pool, time of its last change' CODEC(Delta, ZSTD(1)),
    kind Enum8('sync' = 1, 'initialize' = 2, 'swap' = 3, 'mint' = 4, 'burn' = 5, 'collect' = 6, 'collect_protocol' = 7, 'flash' = 8, 'fee' = 9, 'register' = 10, 'found' = 11, 'ticks' = 12) COMMENT 'Event that changed the state; fee, register: a fee change or a registration of tokens that added to doubts, fee also a change of the curve; found: no event, the state of a pool of found_pools; ticks: no event, the ticks of an older V3 pool are known from here on',
    pair FixedString(20) COMMENT 'Address of the pool' CODEC(ZSTD(1)),
    dex LowCardinality(String) COMMENT 'Short name of the DEX',
    pool_type UInt8 COMMENT 'Type of the pool, as in pools: 2 constant product, 3 concentrated, 4 weighted, 5 stable, 6 crypto, 7 bins',
    token0 FixedString(20) COMMENT 'Address of the first token of the pool' CODEC(ZSTD(1)),
    token1 FixedString(20) COMMENT 'Address of the second token of the pool' CODEC(ZSTD(1)),
    base_is_token0 Bool COMMENT 'Whether token0 is the base token',
    tx_hash FixedString(32) COMMENT 'Hash of the transaction' CODEC(ZSTD(1)),
    tx_index UInt32 COMMENT 'Index of the transaction in its block',
    maker Nullable(FixedString(20)) COMMENT 'Sender of the transaction; null if the node does not report senders' CODEC(ZSTD(1)),
    reserve0 UInt256 COMMENT 'Pool balance of token0, raw units' CODEC(ZSTD(1)),
    reserve1 UInt256 COMMENT 'Pool balance of token1, raw units' CODEC(ZSTD(1)),
    sqrt_price_x96 UInt256 COMMENT 'V3: sqrtPriceX96 of the pool; 0 for other pools' CODEC(ZSTD(1)),
    liquidity UInt128 COMMENT 'V3: active liquidity of the pool; 0 for other pools' CODEC(ZSTD(1)),
    tick Int32 COMMENT 'V3: tick of the pool; Camelot: curve and fees, as in src/protocols/camelot/camelotTick.ts; bins: id of the active bin; 0 for other pools',
    doubts UInt8 COMMENT 'Reasons why the pool backs no price, as a sum: 1 asset manager or managed balance, 2 a swap did not fit the weights, 4 a weight below 1 % or a fee above 10 %, 8 a hook takes part in the amounts of swaps; 0: none. Never falls',
    price Float64 COMMENT 'Marginal price of the pool in this state, raw token1 per raw token0; 0 if there is no price',
    balances Array(UInt256) COMMENT 'Weighted and stable pools: pool balance of each token, raw units, in the order of pools.tokens; empty for other pools' CODEC(ZSTD(1)),
    params Array(UInt256) COMMENT 'Pools of many tokens: numbers of the protocol that prices need beside balances and weights, such as the amplification of a stable pool; empty if prices need none, or if unknown. Pools with bins: id and changes of both reserves of each changed bin' CODEC(ZSTD(1)),
    unswapped Array(Float64) COMMENT 'For each leg, the part of ln(price) by which the price moved without a swap, at the end of the block. Empty if there is no such part, or if a later state of the pool in this block stores it',
    walked_liquidity Float64 COMMENT 'V3: liquidity of a constant product pool that pays out the same amount while the price moves by 2 %, in the direction that pays out less, raw; -1 if not computed, because the pool changed again in the block or is older than the start block' CODEC(ZSTD(1)),
    near0 Float64 COMMENT 'V3: amount of token0 that the pool pays out while the price rises by half, raw units; 0 if not computed' CODEC(ZSTD(1)),
    near1 Float64 COMMENT 'V3: amount of token1 that the pool pays out while the price falls by half, raw units; 0 if not computed' CODEC(ZSTD(1)),
    PROJECTION of_pair (SELECT pair, ord, kind, timestamp, dex, pool_type, token0, token1, base_is_token0, tx_hash, maker, reserve0, reserve1 ORDER BY pair, ord)
)
ENGINE = MergeTree
ORDER BY ord
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 1000
COMMENT 'States of pools in final blocks; rows are only appended';

-- HEAD OF pool_states PARTITION BY intDiv(ord, 268435456) ORDER BY ord

-- One row: the columns by which /activity searches events. The values of the event are in the row with the
-- same ord in swaps, liquidity_events or pool_states. The table is sorted by ord. Projections are sorted by
-- pair, by token0 and by token1.
CREATE TABLE IF NOT EXISTS events
(
    ord UInt64 COMMENT 'Position of the log in the chain: block_number * 2^20 + log_index' CODEC(Delta, ZSTD(1)),
    kind Enum8('swap' = 1, 'mint' = 2, 'burn' = 3, 'sync' = 4) COMMENT 'Kind of the event, which names the table with its values. swap: swaps; mint, burn: liquidity_events; sync: pool_states',
    pair FixedString(20) COMMENT 'Address of the pool' CODEC(ZSTD(1)),
    token0 FixedString(20) COMMENT 'Address of the first token of the event' CODEC(ZSTD(1)),
    token1 FixedString(20) COMMENT 'Address of the second token of the event' CODEC(ZSTD(1)),
    maker Nullable(FixedString(20)) COMMENT 'Sender of the transaction; null if the node does not report senders' CODEC(ZSTD(1)),
    INDEX by_maker maker TYPE bloom_filter(0.01) GRANULARITY 4,
    PROJECTION by_pair (SELECT pair, ord, kind, token0, token1 ORDER BY pair, ord),
    PROJECTION by_token0 (SELECT token0, ord, kind ORDER BY token0, ord),
    PROJECTION by_token1 (SELECT token1, ord, kind ORDER BY token1, ord),
    PROJECTION counts (SELECT pair, kind, count() GROUP BY pair, kind)
)
ENGINE = MergeTree
ORDER BY ord
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 1000
COMMENT 'Events in final blocks by their search columns; rows are only appended';

-- HEAD OF events PARTITION BY intDiv(ord, 268435456) ORDER BY ord
