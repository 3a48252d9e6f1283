-- Each row: a token's bar of one day whose values appear only in token_bars, or only in the recomputation from
-- swaps. Reads swaps by ord. Scans the whole of token_bars for each day, because no key starts
-- with bucket.
-- `first` and `last` are (ord, price in USD, price in the native coin). The bits of price_counts say which bars use the
-- price of a swap: 1 and 2 bars of token0 and token1, 4 and 8 highs and lows of token0 and token1.
WITH
    stored AS (
        SELECT
            timeframe, token, bucket,
            least((min(first).1, min(first).2), min(first_usd)) AS usd_open,
            greatest((max(last).1, max(last).2), max(last_usd)) AS usd_close,
            max(high_usd) AS usd_high, min(low_usd) AS usd_low,
            (min(first).1, min(first).3) AS native_open, (max(last).1, max(last).3) AS native_close,
            max(high_native) AS native_high, min(low_native) AS native_low, max(high_trusted_usd) AS trusted_usd_high,
            sum(volume) AS token_volume, sum(volume_usd) AS usd_volume, sum(trades) AS trade_count, sum(buys) AS buy_count,
            greatest(max(last).1, max(other_ord)) AS newest_ord
        FROM token_bars
        WHERE bucket >= {day:UInt32} AND bucket < {day:UInt32} + 86400
        GROUP BY timeframe, token, bucket
    ),
    sides AS (
        SELECT ord, timestamp, token0 AS token,
            if(bitTest(price_counts, 0), if(base_is_token0, price_usd, quote_price_usd), 0) AS usd,
            bitTest(price_counts, 2) AS sets_high, native_usd, amount0 AS amount, amount_usd
        FROM swaps
        WHERE ord >= {first_ord:UInt64} AND ord <= {last_ord:UInt64} AND tracked
        UNION ALL
        SELECT ord, timestamp, token1 AS token,
            if(bitTest(price_counts, 1), if(base_is_token0, quote_price_usd, price_usd), 0) AS usd,
            bitTest(price_counts, 3) AS sets_high, native_usd, amount1 AS amount, amount_usd
        FROM swaps
        WHERE ord >= {first_ord:UInt64} AND ord <= {last_ord:UInt64} AND tracked
    ),
    recomputed AS (
        SELECT
            arrayJoin({timeframes:Array(UInt32)})::UInt32 AS timeframe, token,
            (timestamp - timestamp % timeframe)::UInt32 AS bucket,
            min((if(usd > 0, ord, toUInt64(-1)), usd)) AS usd_open,
            max((if(usd > 0, ord, 0), usd)) AS usd_close,
            max(usd) AS usd_high,
            min(if(usd > 0, usd, inf)) AS usd_low,
            min((if(native_price > 0, ord, toUInt64(-1)), native_price)) AS native_open,
            max((if(native_price > 0, ord, 0), native_price)) AS native_close,
            max(native_price) AS native_high,
            min(if(native_price > 0, native_price, inf)) AS native_low,
            if(timeframe = 3600, max(if(sets_high, usd, 0)), 0) AS trusted_usd_high,
            sum(toUInt256(if(amount < 0, -amount, amount))) AS token_volume,
            sum(amount_usd) AS usd_volume,
            count() AS trade_count,
            countIf(amount < 0) AS buy_count,
            max(ord) AS newest_ord
        FROM (SELECT *, if(native_usd > 0, usd / native_usd, 0) AS native_price FROM sides)
        GROUP BY timeframe, token, bucket
    )
SELECT
    concat('token_bars timeframe=', toString(timeframe), ' token=0x', lower(hex(token)), ' time=', toString(bucket)) AS item,
    any(side) AS only_in,
    any(shown) AS value
FROM
(
    SELECT 'token_bars' AS side, *, toString((usd_open, usd_close, usd_high, usd_low, trusted_usd_high, token_volume, usd_volume, trade_count, buy_count, newest_ord)) AS shown FROM stored
    UNION ALL
    SELECT 'swaps' AS side, *, toString((usd_open, usd_close, usd_high, usd_low, trusted_usd_high, token_volume, usd_volume, trade_count, buy_count, newest_ord)) AS shown FROM recomputed
)
GROUP BY timeframe, token, bucket, usd_open, usd_close, usd_high, usd_low, native_open, native_close, native_high, native_low, trusted_usd_high, token_volume, usd_volume, trade_count, buy_count, newest_ord
HAVING count() = 1
ORDER BY item, only_in
LIMIT 100
