-- Layer 4, bars: one view over the final swaps writes all six timeframes. Readers add the canonical head swaps above
-- the newest ord of a bar.

-- One row: part of one bar. Readers merge the rows of one key. Prices are raw token1 per raw token0. Most bars hold a
-- single swap, repeated in all six timeframes. Neighbouring timeframes of a pair compress these bars to half the size.
-- Nearly all swaps have both prices and share one ord for both. Other swaps have their own columns, so that merging
-- loses nothing.
CREATE TABLE IF NOT EXISTS bars
(
    timeframe UInt32 COMMENT 'Length in seconds: 60, 300, 900, 3600, 14400 or 86400' CODEC(ZSTD(3)),
    pair FixedString(20) COMMENT 'Pool address' CODEC(ZSTD(3)),
    leg UInt16 COMMENT 'Leg of the pool, encoded as in swaps' CODEC(ZSTD(3)),
    bucket UInt32 COMMENT 'Open time, unix seconds, UTC, a multiple of timeframe' CODEC(Delta, ZSTD(3)),
    first SimpleAggregateFunction(min, Tuple(UInt64, Float64, Float64)) COMMENT '(ord, price, USD per whole base token) of the first swap with both prices; (2^64-1, 0, 0): none' CODEC(ZSTD(3)),
    last SimpleAggregateFunction(max, Tuple(UInt64, Float64, Float64)) COMMENT 'As first, of the last swap with both prices; (0, 0, 0): none' CODEC(ZSTD(3)),
    first_quote SimpleAggregateFunction(min, Tuple(UInt64, Float64)) COMMENT '(ord, price) of the first swap with a price but no USD price; (2^64-1, 0): none' CODEC(ZSTD(3)),
    last_quote SimpleAggregateFunction(max, Tuple(UInt64, Float64)) COMMENT 'As first_quote, of the last such swap; (0, 0): none' CODEC(ZSTD(3)),
    high SimpleAggregateFunction(max, Float64) COMMENT 'Largest price; 0: none' CODEC(ZSTD(3)),
    low SimpleAggregateFunction(min, Float64) COMMENT 'Smallest price; infinity: none' CODEC(ZSTD(3)),
    high_usd SimpleAggregateFunction(max, Float64) COMMENT 'Largest USD price; 0: none' CODEC(ZSTD(3)),
    low_usd SimpleAggregateFunction(min, Float64) COMMENT 'Smallest USD price; infinity: none' CODEC(ZSTD(3)),
    volume0 SimpleAggregateFunction(sum, UInt256) COMMENT 'Sum of |net amount0|, raw units' CODEC(ZSTD(3)),
    volume1 SimpleAggregateFunction(sum, UInt256) COMMENT 'Sum of |net amount1|, raw units' CODEC(ZSTD(3)),
    volume_usd SimpleAggregateFunction(sum, Decimal(38, 12)) COMMENT 'Sum of amount_usd of tracked swaps' CODEC(ZSTD(3)),
    fee_usd SimpleAggregateFunction(sum, Decimal(38, 12)) COMMENT 'Sum of fee_usd of tracked swaps' CODEC(ZSTD(3)),
    trades SimpleAggregateFunction(sum, UInt64) COMMENT 'Swaps' CODEC(ZSTD(3)),
    untracked SimpleAggregateFunction(sum, UInt64) COMMENT 'Swaps that are not tracked' CODEC(ZSTD(3)),
    buys SimpleAggregateFunction(sum, UInt64) COMMENT 'Swaps in which the pool balance of the base token fell' CODEC(ZSTD(3)),
    other_ord SimpleAggregateFunction(max, UInt64) COMMENT 'Largest ord of the swaps without both prices; 0: none. Head swaps count only above this ord and the ord of last' CODEC(Delta, ZSTD(3))
)
ENGINE = AggregatingMergeTree
ORDER BY (pair, leg, timeframe, bucket)
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 1000, min_compress_block_size = 65536
COMMENT 'Bars of all six timeframes over final swaps';

CREATE MATERIALIZED VIEW IF NOT EXISTS mv_bars TO bars AS
WITH
    if(price_usd > 0, 0, price) AS quote_only -- a swap with a USD price also has a price
SELECT
    arrayJoin([60, 300, 900, 3600, 14400, 86400])::UInt32 AS timeframe,
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
