-- Layer 7, prices: routes and averages per epoch of 32 blocks, and the price of each token after each block. A row is
-- valid from the end of its block. Reorgs and the head work as for every event table.

-- One row: one leg of a pool over one epoch in which the leg moved. Written with the first block of the next epoch.
CREATE TABLE IF NOT EXISTS pool_epochs
(
    ord UInt64 COMMENT 'Largest ord of the first block after the epoch',
    timestamp UInt32 COMMENT 'Time of the last block of the epoch, unix seconds, UTC',
    pair FixedString(20) COMMENT 'Pool address',
    leg UInt16 COMMENT 'Leg of the pool, encoded as in swaps',
    price Float64 COMMENT 'Marginal price at the end of the epoch, whole token1 per whole token0; 0: none',
    reserve0 Float64 COMMENT 'Balance of token0 at the end of the epoch, whole tokens; V3: what a walked pool pays out while its price rises by half',
    reserve1 Float64 COMMENT 'Balance of token1 at the end of the epoch, whole tokens; V3: what a walked pool pays out while its price falls by half',
    liquidity Float64 COMMENT 'Square root of the product of the virtual reserves at the end of the epoch, whole tokens',
    depth_liquidity Float64 COMMENT 'Mean of liquidity over the last 30 minutes or the life of the leg, whole tokens',
    depth_weight Float64 COMMENT 'Part of the 30 minutes that the mean of liquidity covers, 0-1',
    mean_log Float64 COMMENT 'Exponentially weighted mean of ln(price) with a time constant of 30 minutes',
    traded Float64 COMMENT 'Traded amount in whole token1, decaying with a time constant of 30 minutes',
    moved_at UInt32 COMMENT 'Time of the last block that changed the leg, unix seconds, UTC',
    unswapped Float64 COMMENT 'Part of ln(price) that came without a swap and that the mean price has not reached yet',
    makers Array(FixedString(20)) COMMENT 'The first two different makers that traded in the leg; twice zero bytes: the node does not name senders',
    born_block UInt32 COMMENT 'Block in which the leg first had a price, or had a price again; 0: before the first stored block; 4294967295: the leg never had a price',
    PROJECTION by_pair (SELECT pair, ord ORDER BY pair, ord)
)
ENGINE = MergeTree
ORDER BY ord
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 1000
COMMENT 'Records of final epochs, one per leg that changed; append only';

-- HEAD OF pool_epochs PARTITION BY intDiv(ord, 268435456) ORDER BY ord

-- One row: the route that prices a token from this block on, if it differs from the previous route.
CREATE TABLE IF NOT EXISTS token_routes
(
    ord UInt64 COMMENT 'Largest ord of the block at whose end the route starts to apply',
    timestamp UInt32 COMMENT 'Block time, unix seconds, UTC',
    token FixedString(20) COMMENT 'Token that the route prices',
    next_token FixedString(20) COMMENT 'Token of the price; zero bytes: the token is an anchor or has no route',
    hops UInt8 COMMENT 'Number of hops to the anchor; 0: the token is an anchor or has no route',
    hop_confidence Float64 COMMENT 'Confidence of this hop, 0-1',
    depth_usd Float64 COMMENT 'Smallest depth of the hops to the anchor: USD that moves the price by 2 percent, in steps of an eighth of an octave',
    recent Bool COMMENT 'Whether the route relies on liquidity that no closed epoch has confirmed',
    stale Bool COMMENT 'Whether no pool of the hop changed for a day',
    pairs Array(FixedString(20)) COMMENT 'Pools of the hop',
    legs Array(UInt16) COMMENT 'Leg of each pool, encoded as in swaps',
    weights Array(Float64) COMMENT 'Weight of each pool, not normalised',
    warnings Array(LowCardinality(String)) COMMENT 'Codes of warnings about the price',
    PROJECTION by_token (SELECT token, ord ORDER BY token, ord)
)
ENGINE = MergeTree
ORDER BY ord
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 1000
COMMENT 'Routes of final blocks; append only';

-- HEAD OF token_routes PARTITION BY intDiv(ord, 268435456) ORDER BY ord

-- One row: a token's own hop at the end of a block that changed the hop. To price a token at a block, multiply the hops
-- in force along next_token, down to the row with a zero next_token, whose hop_price is USD.
CREATE TABLE IF NOT EXISTS token_prices
(
    ord UInt64 COMMENT 'Largest ord of the block',
    timestamp UInt32 COMMENT 'Block time, unix seconds, UTC',
    token FixedString(20) COMMENT 'Token with the price',
    next_token FixedString(20) COMMENT 'Token of hop_price; zero bytes: hop_price is in USD',
    hop_price Float64 COMMENT 'Whole next_token per whole token; 0: no price',
    hop_confidence Float64 COMMENT 'Confidence of this hop, 0-1. The confidence of a price is the product along the path, at most 0.989',
    hop_cap Float64 COMMENT 'Whole next_token that the pools of the hop can pay out in all, rounded down to a sixteenth of an octave; 0: no limit or no price',
    price_usd Float64 COMMENT 'USD per whole token at the end of the block; 0: none',
    confidence Float64 COMMENT 'Confidence of price_usd, 0-1',
    previous_next_token FixedString(20) COMMENT 'next_token before this block',
    previous_hop_price Float64 COMMENT 'hop_price before this block; 0: none',
    PROJECTION by_token (SELECT token, ord ORDER BY token, ord)
)
ENGINE = MergeTree
ORDER BY ord
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 1000
COMMENT 'Hops of tokens at the final blocks that changed them; append only';

-- HEAD OF token_prices PARTITION BY intDiv(ord, 268435456) ORDER BY ord

-- One row: part of a token's newest final hop; the tuple with the largest ord counts.
CREATE TABLE IF NOT EXISTS token_price_latest
(
    token FixedString(20) COMMENT 'Token of the hop',
    price SimpleAggregateFunction(max, Tuple(ord UInt64, next_token FixedString(20), hop_price Float64, hop_confidence Float64, hop_cap Float64)) COMMENT 'Newest hop, with the columns of token_prices'
)
ENGINE = AggregatingMergeTree
ORDER BY token
SETTINGS index_granularity = 256, non_replicated_deduplication_window = 1000
COMMENT 'Newest final hop of each token';

CREATE MATERIALIZED VIEW IF NOT EXISTS mv_token_price_latest TO token_price_latest AS
SELECT
    token,
    tuple(max(p.ord), argMax(p.next_token, p.ord), argMax(p.hop_price, p.ord), argMax(p.hop_confidence, p.ord), argMax(p.hop_cap, p.ord)) AS price
FROM token_prices AS p
GROUP BY token;

-- One row: part of one bar of a token over its tracked swaps in all pools. The price of a swap is its pool's marginal
-- price times the other token's price. Key order, compression, ords and the rule for the head are as for bars.
CREATE TABLE IF NOT EXISTS token_bars
(
    timeframe UInt32 COMMENT 'Length in seconds: 60, 300, 900, 3600, 14400 or 86400' CODEC(ZSTD(3)),
    token FixedString(20) COMMENT 'Token that the bar prices' CODEC(ZSTD(3)),
    bucket UInt32 COMMENT 'Open time, unix seconds, UTC, a multiple of timeframe' CODEC(Delta, ZSTD(3)),
    first SimpleAggregateFunction(min, Tuple(UInt64, Float64, Float64)) COMMENT '(ord, USD, native tokens per whole token) of the first swap with both prices; (2^64-1, 0, 0): none' CODEC(ZSTD(3)),
    last SimpleAggregateFunction(max, Tuple(UInt64, Float64, Float64)) COMMENT 'As first, of the last swap with both prices; (0, 0, 0): none' CODEC(ZSTD(3)),
    first_usd SimpleAggregateFunction(min, Tuple(UInt64, Float64)) COMMENT '(ord, USD per whole token) of the first swap with a USD price but no native price; (2^64-1, 0): none' CODEC(ZSTD(3)),
    last_usd SimpleAggregateFunction(max, Tuple(UInt64, Float64)) COMMENT 'As first_usd, of the last such swap; (0, 0): none' CODEC(ZSTD(3)),
    high_usd SimpleAggregateFunction(max, Float64) COMMENT 'Largest USD price; 0: none' CODEC(ZSTD(3)),
    low_usd SimpleAggregateFunction(min, Float64) COMMENT 'Smallest USD price; infinity: none' CODEC(ZSTD(3)),
    high_native SimpleAggregateFunction(max, Float64) COMMENT 'Largest price in the native token; 0: none' CODEC(ZSTD(3)),
    low_native SimpleAggregateFunction(min, Float64) COMMENT 'Smallest price in the native token; infinity: none' CODEC(ZSTD(3)),
    volume SimpleAggregateFunction(sum, UInt256) COMMENT 'Sum of |net amount| of the token, raw units' CODEC(ZSTD(3)),
    volume_usd SimpleAggregateFunction(sum, Decimal(38, 12)) COMMENT 'Sum of amount_usd' CODEC(ZSTD(3)),
    trades SimpleAggregateFunction(sum, UInt64) COMMENT 'Tracked swaps' CODEC(ZSTD(3)),
    buys SimpleAggregateFunction(sum, UInt64) COMMENT 'Swaps in which the pool balance of the token fell' CODEC(ZSTD(3)),
    other_ord SimpleAggregateFunction(max, UInt64) COMMENT 'Largest ord of the tracked swaps without both prices; 0: none. Head swaps count only above this ord and the ord of last' CODEC(Delta, ZSTD(3))
)
ENGINE = AggregatingMergeTree
ORDER BY (token, timeframe, bucket)
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 1000, min_compress_block_size = 65536
COMMENT 'Bars of tokens in all six timeframes over final tracked swaps';

CREATE MATERIALIZED VIEW IF NOT EXISTS mv_token_bars TO token_bars AS
SELECT
    arrayJoin([60, 300, 900, 3600, 14400, 86400])::UInt32 AS timeframe,
    token,
    (intDiv(timestamp, timeframe) * timeframe)::UInt32 AS bucket,
    (min(if(native > 0, ord, 18446744073709551615)), argMin(if(native > 0, usd, 0), if(native > 0, ord, 18446744073709551615)), argMin(native, if(native > 0, ord, 18446744073709551615))) AS first,
    (max(if(native > 0, ord, 0)), argMax(if(native > 0, usd, 0), if(native > 0, ord, 0)), argMax(native, if(native > 0, ord, 0))) AS last,
    (min(if(usd_only > 0, ord, 18446744073709551615)), argMin(usd_only, if(usd_only > 0, ord, 18446744073709551615))) AS first_usd,
    (max(if(usd_only > 0, ord, 0)), argMax(usd_only, if(usd_only > 0, ord, 0))) AS last_usd,
    max(usd) AS high_usd,
    min(if(usd > 0, usd, inf)) AS low_usd,
    max(native) AS high_native,
    min(if(native > 0, native, inf)) AS low_native,
    sum(amount::UInt256) AS volume,
    sum(amount_usd) AS volume_usd,
    count() AS trades,
    countIf(buy) AS buys,
    max(if(native > 0, 0, ord)) AS other_ord
FROM
(
    SELECT
        ord,
        timestamp,
        amount_usd,
        arrayJoin([
            (token0, if(base_is_token0, price_usd, quote_price_usd), abs(amount0), amount0 < 0),
            (token1, if(base_is_token0, quote_price_usd, price_usd), abs(amount1), amount1 < 0)
        ]) AS side,
        side.1 AS token,
        side.2 AS usd,
        if(native_usd > 0, usd / native_usd, 0) AS native,
        if(native > 0, 0, usd) AS usd_only,
        side.3 AS amount,
        side.4 AS buy
    FROM swaps
    WHERE tracked
)
GROUP BY timeframe, token, bucket;
