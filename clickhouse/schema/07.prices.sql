-- Layer 7, prices: routes and averages per epoch of 32 blocks, and the price of each token after each block.
-- A row is valid from the end of its block. Rows of blocks that are not final are in head tables.

-- One row: one leg (two tokens of a pool) over one epoch of 32 blocks in which the leg changed. The ingester
-- writes the row with the first block of the next epoch.
CREATE TABLE IF NOT EXISTS pool_epochs
(
    ord UInt64 COMMENT 'Position in the chain: the largest possible ord of the first block after the epoch',
    timestamp UInt32 COMMENT 'Time of the last block of the epoch, unix seconds, UTC',
    pair FixedString(20) COMMENT 'Address of the pool',
    leg UInt16 COMMENT 'The two tokens of the pool that the row is about, encoded as in swaps.leg',
    price Float64 COMMENT 'Marginal price at the end of the epoch, whole token1 per whole token0; 0 if there is no price',
    reserve0 Float64 COMMENT 'Balance of token0 at the end of the epoch, whole tokens; V3: what a walked pool pays out while its price rises by half',
    reserve1 Float64 COMMENT 'Balance of token1 at the end of the epoch, whole tokens; V3: what a walked pool pays out while its price falls by half',
    liquidity Float64 COMMENT 'Square root of the product of the virtual reserves at the end of the epoch, whole tokens',
    depth_liquidity Float64 COMMENT 'Mean of liquidity over the last 30 minutes or the life of the leg, whole tokens',
    depth_weight Float64 COMMENT 'Part of the 30 minutes that the mean of liquidity covers, 0 to 1',
    mean_log Float64 COMMENT 'Mean of the natural logarithm of the price, weighted exponentially with a time constant of 30 minutes',
    traded Float64 COMMENT 'Recently traded amount, in whole token1; older trades decay with a time constant of 30 minutes',
    moved_at UInt32 COMMENT 'Time of the last block that changed the leg, unix seconds, UTC',
    unswapped Float64 COMMENT 'Part of ln(price) by which the price moved without a swap, as far as the mean price has not followed yet',
    makers Array(FixedString(20)) COMMENT 'First two different senders of transactions (makers) that traded in the leg; zero bytes twice if the node does not report senders',
    born_block UInt32 COMMENT 'Number of the block in which the leg first had a price, or had a price again; 0 if that was before the first stored block; 4294967295 if the leg never had a price',
    PROJECTION by_pair (SELECT pair, ord ORDER BY pair, ord)
)
ENGINE = MergeTree
ORDER BY ord
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 1000
COMMENT 'Prices and liquidity of each leg that changed in an epoch, for final blocks; rows are only appended';

-- HEAD OF pool_epochs PARTITION BY intDiv(ord, 268435456) ORDER BY ord

-- One row: the route that prices a token from the end of this block on. Written only when the route
-- differs from the previous one.
CREATE TABLE IF NOT EXISTS token_routes
(
    ord UInt64 COMMENT 'Position in the chain: the largest possible ord of the block at whose end the route starts to apply',
    timestamp UInt32 COMMENT 'Block time, unix seconds, UTC',
    token FixedString(20) COMMENT 'Address of the token that the route prices',
    next_token FixedString(20) COMMENT 'Token in which the route prices the token; zero bytes if the token is an anchor or has no route',
    hops UInt8 COMMENT 'Number of hops from the token to an anchor; 0 if the token is an anchor or has no route',
    hop_confidence Float64 COMMENT 'Confidence of the hop from this token to next_token, 0 to 1',
    depth_usd Float64 COMMENT 'Smallest depth on the route: USD that moves a hop''s price by 2 percent, rounded to a power of 2^(1/8)',
    other_depth_usd Float64 COMMENT 'Depth of the deepest other route that the token could have had, USD, rounded down to a power of 2; 0 without another route',
    recent Bool COMMENT 'Whether the route relies on recent liquidity, which no complete epoch of 32 blocks has confirmed yet',
    stale Bool COMMENT 'Whether no pool of the hop changed for a day',
    pairs Array(FixedString(20)) COMMENT 'Addresses of the pools of the hop',
    legs Array(UInt16) COMMENT 'The two tokens of each pool that the hop uses, encoded as in swaps.leg',
    weights Array(Float64) COMMENT 'Weight of each pool in the hop''s price, not normalised',
    warnings Array(LowCardinality(String)) COMMENT 'Warnings about the price, as codes',
    PROJECTION by_token (SELECT token, ord ORDER BY token, ord)
)
ENGINE = MergeTree
ORDER BY ord
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 1000
COMMENT 'Price routes of tokens for final blocks; rows are only appended';

-- HEAD OF token_routes PARTITION BY intDiv(ord, 268435456) ORDER BY ord

-- One row: the price of a token in the next token of its route (a hop), at the end of a block that changed
-- this price. To price a token at a block, multiply the newest hops along next_token. The last hop has a zero
-- next_token, and its hop_price is in USD.
CREATE TABLE IF NOT EXISTS token_prices
(
    ord UInt64 COMMENT 'Position in the chain: the largest possible ord of the block',
    timestamp UInt32 COMMENT 'Block time, unix seconds, UTC',
    token FixedString(20) COMMENT 'Address of the token whose price this is',
    next_token FixedString(20) COMMENT 'Token in which hop_price is given; zero bytes if hop_price is in USD',
    hop_price Float64 COMMENT 'Price of the token: whole next_token per whole token; 0 if there is no price',
    hop_confidence Float64 COMMENT 'Confidence of the hop from this token to next_token, 0 to 1. The confidence of a USD price is the product of its hops, at most 0.989',
    hop_cap Float64 COMMENT 'Amount of next_token that all pools of the hop can pay out together, whole tokens, rounded down to a power of 2^(1/16); 0 if there is no limit or no price',
    price_usd Float64 COMMENT 'USD per whole token at the end of the block; 0 if there is no price',
    confidence Float64 COMMENT 'Confidence of price_usd, 0 to 1',
    previous_next_token FixedString(20) COMMENT 'Value of next_token before this block',
    previous_hop_price Float64 COMMENT 'Value of hop_price before this block; 0 if there was no price',
    previous_hop_confidence Float64 COMMENT 'Value of hop_confidence before this block, 0 to 1',
    PROJECTION by_token (SELECT token, ord ORDER BY token, ord)
)
ENGINE = MergeTree
ORDER BY ord
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 1000
COMMENT 'Price hops of tokens at each final block that changed them; rows are only appended';

-- HEAD OF token_prices PARTITION BY intDiv(ord, 268435456) ORDER BY ord

-- One row: a candidate for the newest final hop of a token. If a token has several rows, the tuple with the
-- largest ord is the newest hop.
CREATE TABLE IF NOT EXISTS token_price_latest
(
    token FixedString(20) COMMENT 'Address of the token whose price the hop gives',
    price SimpleAggregateFunction(max, Tuple(ord UInt64, next_token FixedString(20), hop_price Float64, hop_confidence Float64, hop_cap Float64)) COMMENT 'Newest hop of the token, with the columns of token_prices'
)
ENGINE = AggregatingMergeTree
ORDER BY token
SETTINGS index_granularity = 256, non_replicated_deduplication_window = 1000
COMMENT 'Newest price hop of each token in the final blocks';

CREATE MATERIALIZED VIEW IF NOT EXISTS mv_token_price_latest TO token_price_latest AS
SELECT
    token,
    tuple(max(p.ord), argMax(p.next_token, p.ord), argMax(p.hop_price, p.ord), argMax(p.hop_confidence, p.ord), argMax(p.hop_cap, p.ord)) AS price
FROM token_prices AS p
GROUP BY token;

-- One row: part of one bar of a token over its tracked swaps in all pools. The price of a swap is its pool's
-- marginal price times the other token's price. If the bars do not use the price of a swap (see
-- swaps.price_counts), the swap adds only to the volume and the numbers of trades. Sort key, compression and
-- ords are used as in the table bars. Readers add each head swap whose ord is above the newest ord in the
-- bar.
CREATE TABLE IF NOT EXISTS token_bars
(
    timeframe UInt32 COMMENT 'Length of the bar in seconds' CODEC(ZSTD(3)),
    token FixedString(20) COMMENT 'Address of the token that the bar prices' CODEC(ZSTD(3)),
    bucket UInt32 COMMENT 'Time at which the bar opens, unix seconds, UTC, a multiple of timeframe' CODEC(Delta, ZSTD(3)),
    first SimpleAggregateFunction(min, Tuple(UInt64, Float64, Float64)) COMMENT 'Of the first swap that has a USD price and a native price: (ord, USD, native tokens), both per whole token. (2^64-1, 0, 0) if there is no such swap' CODEC(ZSTD(3)),
    last SimpleAggregateFunction(max, Tuple(UInt64, Float64, Float64)) COMMENT 'Of the last swap that has a USD price and a native price: (ord, USD, native tokens), both per whole token. (0, 0, 0) if there is no such swap' CODEC(ZSTD(3)),
    first_usd SimpleAggregateFunction(min, Tuple(UInt64, Float64)) COMMENT 'Of the first swap that has a USD price but no native price: (ord, USD per whole token). (2^64-1, 0) if there is no such swap' CODEC(ZSTD(3)),
    last_usd SimpleAggregateFunction(max, Tuple(UInt64, Float64)) COMMENT 'Of the last swap that has a USD price but no native price: (ord, USD per whole token). (0, 0) if there is no such swap' CODEC(ZSTD(3)),
    high_usd SimpleAggregateFunction(max, Float64) COMMENT 'Largest USD price of the bar, per whole token; 0 if no swap has a USD price' CODEC(ZSTD(3)),
    low_usd SimpleAggregateFunction(min, Float64) COMMENT 'Smallest USD price of the bar, per whole token; infinity if no swap has a USD price' CODEC(ZSTD(3)),
    high_native SimpleAggregateFunction(max, Float64) COMMENT 'Largest price of the bar in native tokens per whole token; 0 if no swap has a native price' CODEC(ZSTD(3)),
    low_native SimpleAggregateFunction(min, Float64) COMMENT 'Smallest price of the bar in native tokens per whole token; infinity if no swap has a native price' CODEC(ZSTD(3)),
    high_trusted_usd SimpleAggregateFunction(max, Float64) COMMENT 'Hourly bars: largest USD price of the swaps whose price highs and lows use; 0: no such swap. Other timeframes: 0' CODEC(ZSTD(3)),
    volume SimpleAggregateFunction(sum, UInt256) COMMENT 'Traded amount of the token: sum over the swaps of what flowed into or out of the pool, raw units' CODEC(ZSTD(3)),
    volume_usd SimpleAggregateFunction(sum, Decimal(38, 12)) COMMENT 'Traded value in USD of the swaps in the bar' CODEC(ZSTD(3)),
    trades SimpleAggregateFunction(sum, UInt64) COMMENT 'Number of swaps in which at least one token has a trusted price (tracked swaps)' CODEC(ZSTD(3)),
    buys SimpleAggregateFunction(sum, UInt64) COMMENT 'Number of buys: swaps in which the pool balance of the token fell' CODEC(ZSTD(3)),
    other_ord SimpleAggregateFunction(max, UInt64) COMMENT 'Largest ord of the tracked swaps that lack a USD price or a native price; 0 if there is none. Readers add a head swap only if its ord is above this ord and the ord in last' CODEC(Delta, ZSTD(3))
)
ENGINE = AggregatingMergeTree
ORDER BY (token, timeframe, bucket)
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 1000, min_compress_block_size = 65536
COMMENT 'Bars of tokens in all timeframes, over the tracked swaps of final blocks';

CREATE MATERIALIZED VIEW IF NOT EXISTS mv_token_bars TO token_bars AS
SELECT
    arrayJoin(_timeframes)::UInt32 AS timeframe,
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
    max(if(in_highs AND timeframe = 3600, usd, 0)) AS high_trusted_usd,
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
            (token0, if(base_is_token0, price_usd, quote_price_usd) * bitTest(price_counts, 0), abs(amount0), amount0 < 0, bitTest(price_counts, 2)),
            (token1, if(base_is_token0, quote_price_usd, price_usd) * bitTest(price_counts, 1), abs(amount1), amount1 < 0, bitTest(price_counts, 3))
        ]) AS side,
        side.1 AS token,
        side.2 AS usd,
        if(native_usd > 0, usd / native_usd, 0) AS native,
        if(native > 0, 0, usd) AS usd_only,
        side.3 AS amount,
        side.4 AS buy,
        side.5 AS in_highs
    FROM swaps
    WHERE tracked
)
GROUP BY timeframe, token, bucket;
