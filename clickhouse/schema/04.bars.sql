-- Layer 4, bars: one view over the final swaps writes all timeframes. Readers add the swaps of canonical
-- blocks that are not final yet: each swap whose ord (position in the chain) is above the newest ord in the
-- bar.

-- One row: a part of one bar. Readers merge the rows with the same key. Prices are raw token1 per raw token0.
-- Most bars hold a single swap, which appears in each timeframe. The sort order puts the timeframes of a
-- pair side by side, which halves the size on disk. Nearly all swaps have both a price and a USD price, so
-- the two prices of such a swap share one ord. The few swaps without a USD price have columns of their own,
-- so that merging keeps their first and last price too.
CREATE TABLE IF NOT EXISTS bars
(
    timeframe UInt32 COMMENT 'Length of the bar in seconds' CODEC(ZSTD(3)),
    pair FixedString(20) COMMENT 'Address of the pool' CODEC(ZSTD(3)),
    leg UInt16 COMMENT 'The two tokens of the pool that the bar is about, encoded as in swaps.leg' CODEC(ZSTD(3)),
    bucket UInt32 COMMENT 'Time at which the bar opens, unix seconds, UTC, a multiple of timeframe' CODEC(Delta, ZSTD(3)),
    first SimpleAggregateFunction(min, Tuple(UInt64, Float64, Float64)) COMMENT 'Of the first swap that has a price and a USD price: (ord, price, USD per whole base token). (2^64-1, 0, 0) if there is no such swap' CODEC(ZSTD(3)),
    last SimpleAggregateFunction(max, Tuple(UInt64, Float64, Float64)) COMMENT 'Of the last swap that has a price and a USD price: (ord, price, USD per whole base token). (0, 0, 0) if there is no such swap' CODEC(ZSTD(3)),
    first_quote SimpleAggregateFunction(min, Tuple(UInt64, Float64)) COMMENT 'Of the first swap that has a price but no USD price: (ord, price). (2^64-1, 0) if there is no such swap' CODEC(ZSTD(3)),
    last_quote SimpleAggregateFunction(max, Tuple(UInt64, Float64)) COMMENT 'Of the last swap that has a price but no USD price: (ord, price). (0, 0) if there is no such swap' CODEC(ZSTD(3)),
    high SimpleAggregateFunction(max, Float64) COMMENT 'Largest price of the bar, raw token1 per raw token0; 0 if no swap has a price' CODEC(ZSTD(3)),
    low SimpleAggregateFunction(min, Float64) COMMENT 'Smallest price of the bar, raw token1 per raw token0; infinity if no swap has a price' CODEC(ZSTD(3)),
    high_usd SimpleAggregateFunction(max, Float64) COMMENT 'Largest USD price of the bar, per whole base token; 0 if no swap has a USD price' CODEC(ZSTD(3)),
    low_usd SimpleAggregateFunction(min, Float64) COMMENT 'Smallest USD price of the bar, per whole base token; infinity if no swap has a USD price' CODEC(ZSTD(3)),
    volume0 SimpleAggregateFunction(sum, UInt256) COMMENT 'Traded amount of token0: sum of the absolute net amounts, raw units' CODEC(ZSTD(3)),
    volume1 SimpleAggregateFunction(sum, UInt256) COMMENT 'Traded amount of token1: sum of the absolute net amounts, raw units' CODEC(ZSTD(3)),
    volume_usd SimpleAggregateFunction(sum, Decimal(38, 12)) COMMENT 'Traded value in USD of the swaps in which a token has a trusted price' CODEC(ZSTD(3)),
    fee_usd SimpleAggregateFunction(sum, Decimal(38, 12)) COMMENT 'Fees in USD of the swaps in which a token has a trusted price' CODEC(ZSTD(3)),
    trades SimpleAggregateFunction(sum, UInt64) COMMENT 'Number of swaps in the bar' CODEC(ZSTD(3)),
    untracked SimpleAggregateFunction(sum, UInt64) COMMENT 'Number of swaps in which neither token has a trusted price' CODEC(ZSTD(3)),
    buys SimpleAggregateFunction(sum, UInt64) COMMENT 'Number of buys: swaps in which the pool balance of the base token fell' CODEC(ZSTD(3)),
    other_ord SimpleAggregateFunction(max, UInt64) COMMENT 'Largest ord of the swaps that lack a price or a USD price; 0 if there is none. Readers add a head swap only if its ord is above this ord and the ord in last' CODEC(Delta, ZSTD(3))
)
ENGINE = AggregatingMergeTree
ORDER BY (pair, leg, timeframe, bucket)
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 1000, min_compress_block_size = 65536
COMMENT 'Bars of pools in all timeframes, over the swaps of final blocks';

CREATE MATERIALIZED VIEW IF NOT EXISTS mv_bars TO bars AS
WITH
    if(price_usd > 0, 0, price) AS quote_only -- a swap with a USD price also has a price
SELECT
    arrayJoin(_timeframes)::UInt32 AS timeframe,
    pair,
    leg,
    (intDiv(timestamp, timeframe) * timeframe)::UInt32 AS bucket,
    (min(if(price_usd > 0, ord, 18446744073709551615)), argMin(if(price_usd > 0, price, 0), if(price_usd > 0, ord, 18446744073709551615)), argMin(price_usd, if(price_usd > 0, ord, 18446744073709551615))) AS first,
    (max(if(price_usd > 0, ord, 0)), argMax(if(price_usd > 0, price, 0), if(price_usd > 0, ord, 0)), argMax(price_usd, if(price_usd > 0, ord, 0))) AS last,
    (min(if(quote_only > 0, ord, 18446744073709551615)), argMin(quote_only, if(quote_only > 0, ord, 18446744073709551615))) AS first_quote,
    (max(if(quote_only > 0, ord, 0)), argMax(quote_only, if(quote_only > 0, ord, 0))) AS last_quote,
    max(price) AS high,
    min(if(price > 0, price, inf)) AS low,
    max(price_usd) AS high_usd,
    min(if(price_usd > 0, price_usd, inf)) AS low_usd,
    sum(abs(amount0)::UInt256) AS volume0,
    sum(abs(amount1)::UInt256) AS volume1,
    sum(amount_usd) AS volume_usd,
    sum(fee_usd) AS fee_usd,
    count() AS trades,
    countIf(NOT tracked) AS untracked,
    countIf(if(base_is_token0, amount0, amount1) < 0) AS buys,
    max(if(price_usd > 0, 0, ord)) AS other_ord
FROM swaps
GROUP BY timeframe, pair, leg, bucket;
