-- A bar names its first swap with both prices by one ord, and its last; swaps with the first price alone stand apart. Rows of
-- before are read as if they did so. Where their first priced swap came before their first with both, they do not know the
-- first price of the latter (0 here): nobody asks for it, since the earlier one stands apart. The columns of before stay,
-- empty in new rows, until bars are made anew.
ALTER TABLE bars
    ADD COLUMN IF NOT EXISTS first SimpleAggregateFunction(min, Tuple(UInt64, Float64, Float64)) DEFAULT (open_usd.1, if(open.1 = open_usd.1, open.2, 0), open_usd.2) COMMENT '(ord, price, USD per whole base token) of the first swap that has both; (2^64-1, 0, 0): none' CODEC(ZSTD(3)) AFTER bucket,
    ADD COLUMN IF NOT EXISTS last SimpleAggregateFunction(max, Tuple(UInt64, Float64, Float64)) DEFAULT (close_usd.1, if(close.1 = close_usd.1, close.2, 0), close_usd.2) COMMENT 'The same of the last swap that has both; (0, 0, 0): none' CODEC(ZSTD(3)) AFTER first,
    ADD COLUMN IF NOT EXISTS first_quote SimpleAggregateFunction(min, Tuple(UInt64, Float64)) DEFAULT if(open.1 < open_usd.1, open, (18446744073709551615, 0)) COMMENT '(ord, price) of the first swap that has a price, but none in USD; (2^64-1, 0): none' CODEC(ZSTD(3)) AFTER last,
    ADD COLUMN IF NOT EXISTS last_quote SimpleAggregateFunction(max, Tuple(UInt64, Float64)) DEFAULT if(close.1 > close_usd.1, close, (0, 0)) COMMENT 'The same of the last such swap; (0, 0): none' CODEC(ZSTD(3)) AFTER first_quote,
    ADD COLUMN IF NOT EXISTS other_ord SimpleAggregateFunction(max, UInt64) DEFAULT last_ord COMMENT 'Largest ord of the swaps without both prices; 0: none. What the head adds lies beyond it and the ord of last' CODEC(Delta, ZSTD(3)) AFTER buys;
ALTER TABLE mv_bars MODIFY QUERY
WITH
    if(price_usd > 0, 0, price) AS quote_only -- a swap has a price in USD only where it has one
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
ALTER TABLE token_bars
    ADD COLUMN IF NOT EXISTS first SimpleAggregateFunction(min, Tuple(UInt64, Float64, Float64)) DEFAULT (open_native.1, if(open_usd.1 = open_native.1, open_usd.2, 0), open_native.2) COMMENT '(ord, USD, native tokens per whole token) of the first swap that has both prices; (2^64-1, 0, 0): none' CODEC(ZSTD(3)) AFTER bucket,
    ADD COLUMN IF NOT EXISTS last SimpleAggregateFunction(max, Tuple(UInt64, Float64, Float64)) DEFAULT (close_native.1, if(close_usd.1 = close_native.1, close_usd.2, 0), close_native.2) COMMENT 'The same of the last swap that has both; (0, 0, 0): none' CODEC(ZSTD(3)) AFTER first,
    ADD COLUMN IF NOT EXISTS first_usd SimpleAggregateFunction(min, Tuple(UInt64, Float64)) DEFAULT if(open_usd.1 < open_native.1, open_usd, (18446744073709551615, 0)) COMMENT '(ord, USD per whole token) of the first swap that has a price in USD, but none in the native token; (2^64-1, 0): none' CODEC(ZSTD(3)) AFTER last,
    ADD COLUMN IF NOT EXISTS last_usd SimpleAggregateFunction(max, Tuple(UInt64, Float64)) DEFAULT if(close_usd.1 > close_native.1, close_usd, (0, 0)) COMMENT 'The same of the last such swap; (0, 0): none' CODEC(ZSTD(3)) AFTER first_usd,
    ADD COLUMN IF NOT EXISTS other_ord SimpleAggregateFunction(max, UInt64) DEFAULT last_ord COMMENT 'Largest ord of the tracked swaps without both prices; 0: none. What the head adds lies beyond it and the ord of last' CODEC(Delta, ZSTD(3)) AFTER buys;
ALTER TABLE mv_token_bars MODIFY QUERY
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
