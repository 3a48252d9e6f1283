CREATE TABLE IF NOT EXISTS bars
(
    timeframe UInt32 COMMENT 'Length in seconds: 60, 300, 900, 3600, 14400 or 86400' CODEC(ZSTD(3)),
    pair FixedString(20) COMMENT 'Pool address' CODEC(ZSTD(3)),
    leg UInt16 COMMENT 'Which two tokens of the pool, as in swaps' CODEC(ZSTD(3)),
    bucket UInt32 COMMENT 'Open time, unix seconds, UTC, a multiple of timeframe' CODEC(Delta, ZSTD(3)),
    open SimpleAggregateFunction(min, Tuple(UInt64, Float64)) COMMENT '(ord, price) of the first priced swap; (2^64-1, 0): none' CODEC(ZSTD(3)),
    close SimpleAggregateFunction(max, Tuple(UInt64, Float64)) COMMENT '(ord, price) of the last priced swap; (0, 0): none' CODEC(ZSTD(3)),
    high SimpleAggregateFunction(max, Float64) COMMENT 'Largest price; 0: none' CODEC(ZSTD(3)),
    low SimpleAggregateFunction(min, Float64) COMMENT 'Smallest price; infinity: none' CODEC(ZSTD(3)),
    open_usd SimpleAggregateFunction(min, Tuple(UInt64, Float64)) COMMENT '(ord, USD per whole base token) of the first swap with a USD price' CODEC(ZSTD(3)),
    close_usd SimpleAggregateFunction(max, Tuple(UInt64, Float64)) COMMENT '(ord, USD per whole base token) of the last swap with a USD price' CODEC(ZSTD(3)),
    high_usd SimpleAggregateFunction(max, Float64) COMMENT 'Largest USD price; 0: none' CODEC(ZSTD(3)),
    low_usd SimpleAggregateFunction(min, Float64) COMMENT 'Smallest USD price; infinity: none' CODEC(ZSTD(3)),
    volume0 SimpleAggregateFunction(sum, UInt256) COMMENT 'Sum of |net amount0|, raw units' CODEC(ZSTD(3)),
    volume1 SimpleAggregateFunction(sum, UInt256) COMMENT 'Sum of |net amount1|, raw units' CODEC(ZSTD(3)),
    volume_usd SimpleAggregateFunction(sum, Decimal(38, 12)) COMMENT 'Sum of amount_usd of tracked swaps' CODEC(ZSTD(3)),
    fee_usd SimpleAggregateFunction(sum, Decimal(38, 12)) COMMENT 'Sum of fee_usd of tracked swaps' CODEC(ZSTD(3)),
    trades SimpleAggregateFunction(sum, UInt64) COMMENT 'Swaps' CODEC(ZSTD(3)),
    untracked SimpleAggregateFunction(sum, UInt64) COMMENT 'Swaps whose USD value is not tracked' CODEC(ZSTD(3)),
    buys SimpleAggregateFunction(sum, UInt64) COMMENT 'Swaps in which the pool balance of the base token fell' CODEC(ZSTD(3)),
    last_ord SimpleAggregateFunction(max, UInt64) COMMENT 'Largest ord in this bar: what the head adds lies beyond it' CODEC(Delta, ZSTD(3))
)
ENGINE = AggregatingMergeTree
ORDER BY (pair, leg, timeframe, bucket)
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 1000, min_compress_block_size = 65536
COMMENT 'Bars of all six timeframes over final swaps';

CREATE MATERIALIZED VIEW IF NOT EXISTS mv_bars TO bars AS
SELECT
    arrayJoin([60, 300, 900, 3600, 14400, 86400])::UInt32 AS timeframe,
    pair,
    leg,
    (intDiv(timestamp, timeframe) * timeframe)::UInt32 AS bucket,
    (min(if(price > 0, ord, 18446744073709551615)), argMin(price, if(price > 0, ord, 18446744073709551615))) AS open,
    (max(if(price > 0, ord, 0)), argMax(price, if(price > 0, ord, 0))) AS close,
    max(price) AS high,
    min(if(price > 0, price, inf)) AS low,
    (min(if(price_usd > 0, ord, 18446744073709551615)), argMin(price_usd, if(price_usd > 0, ord, 18446744073709551615))) AS open_usd,
    (max(if(price_usd > 0, ord, 0)), argMax(price_usd, if(price_usd > 0, ord, 0))) AS close_usd,
    max(price_usd) AS high_usd,
    min(if(price_usd > 0, price_usd, inf)) AS low_usd,
    sum(abs(amount0)::UInt256) AS volume0,
    sum(abs(amount1)::UInt256) AS volume1,
    sum(amount_usd) AS volume_usd,
    sum(fee_usd) AS fee_usd,
    count() AS trades,
    countIf(NOT tracked) AS untracked,
    countIf(if(base_is_token0, amount0, amount1) < 0) AS buys,
    max(ord) AS last_ord
FROM swaps
GROUP BY timeframe, pair, leg, bucket;
CREATE TABLE IF NOT EXISTS token_bars
(
    timeframe UInt32 COMMENT 'Length in seconds: 60, 300, 900, 3600, 14400 or 86400' CODEC(ZSTD(3)),
    token FixedString(20) COMMENT 'The token' CODEC(ZSTD(3)),
    bucket UInt32 COMMENT 'Open time, unix seconds, UTC, a multiple of timeframe' CODEC(Delta, ZSTD(3)),
    open_usd SimpleAggregateFunction(min, Tuple(UInt64, Float64)) COMMENT '(ord, USD per whole token) of the first swap with a price; (2^64-1, 0): none' CODEC(ZSTD(3)),
    close_usd SimpleAggregateFunction(max, Tuple(UInt64, Float64)) COMMENT '(ord, USD per whole token) of the last swap with a price; (0, 0): none' CODEC(ZSTD(3)),
    high_usd SimpleAggregateFunction(max, Float64) COMMENT 'Largest USD price; 0: none' CODEC(ZSTD(3)),
    low_usd SimpleAggregateFunction(min, Float64) COMMENT 'Smallest USD price; infinity: none' CODEC(ZSTD(3)),
    open_native SimpleAggregateFunction(min, Tuple(UInt64, Float64)) COMMENT 'The same four in the native token' CODEC(ZSTD(3)),
    close_native SimpleAggregateFunction(max, Tuple(UInt64, Float64)) COMMENT 'As close_usd, in the native token' CODEC(ZSTD(3)),
    high_native SimpleAggregateFunction(max, Float64) COMMENT 'As high_usd, in the native token' CODEC(ZSTD(3)),
    low_native SimpleAggregateFunction(min, Float64) COMMENT 'As low_usd, in the native token' CODEC(ZSTD(3)),
    volume SimpleAggregateFunction(sum, UInt256) COMMENT 'Sum of |net amount| of the token, raw units' CODEC(ZSTD(3)),
    volume_usd SimpleAggregateFunction(sum, Decimal(38, 12)) COMMENT 'Sum of amount_usd' CODEC(ZSTD(3)),
    trades SimpleAggregateFunction(sum, UInt64) COMMENT 'Tracked swaps' CODEC(ZSTD(3)),
    buys SimpleAggregateFunction(sum, UInt64) COMMENT 'Swaps in which the pool balance of the token fell' CODEC(ZSTD(3)),
    last_ord SimpleAggregateFunction(max, UInt64) COMMENT 'Largest ord in this bar: what the head adds lies beyond it' CODEC(Delta, ZSTD(3))
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
    (min(if(usd > 0, ord, 18446744073709551615)), argMin(usd, if(usd > 0, ord, 18446744073709551615))) AS open_usd,
    (max(if(usd > 0, ord, 0)), argMax(usd, if(usd > 0, ord, 0))) AS close_usd,
    max(usd) AS high_usd,
    min(if(usd > 0, usd, inf)) AS low_usd,
    (min(if(native > 0, ord, 18446744073709551615)), argMin(native, if(native > 0, ord, 18446744073709551615))) AS open_native,
    (max(if(native > 0, ord, 0)), argMax(native, if(native > 0, ord, 0))) AS close_native,
    max(native) AS high_native,
    min(if(native > 0, native, inf)) AS low_native,
    sum(amount::UInt256) AS volume,
    sum(amount_usd) AS volume_usd,
    count() AS trades,
    countIf(buy) AS buys,
    max(ord) AS last_ord
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
        side.3 AS amount,
        side.4 AS buy
    FROM swaps
    WHERE tracked
)
GROUP BY timeframe, token, bucket;
