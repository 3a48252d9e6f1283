-- Each row: a token's bar of one day whose values appear only in token_bars, or only in the recomputation from
-- swaps. Reads swaps by ord. Scans token_bars once a day, because no key starts with bucket.
-- `first` and `last` are (ord, price in USD, price in the native coin). The short names are open, close, high and low.
WITH
    stored AS (
        SELECT
            timeframe, token, bucket,
            least((min(first).1, min(first).2), min(first_usd)) AS ou,
            greatest((max(last).1, max(last).2), max(last_usd)) AS cu,
            max(high_usd) AS hu, min(low_usd) AS lu,
            (min(first).1, min(first).3) AS onv, (max(last).1, max(last).3) AS cn,
            max(high_native) AS hn, min(low_native) AS ln, max(high_trusted_usd) AS ht,
            sum(volume) AS v, sum(volume_usd) AS vu, sum(trades) AS n, sum(buys) AS b,
            greatest(max(last).1, max(other_ord)) AS lo
        FROM token_bars
        WHERE bucket >= {day:UInt32} AND bucket < {day:UInt32} + 86400
        GROUP BY timeframe, token, bucket
    ),
    sides AS (
        SELECT ord, timestamp, token0 AS token,
            if(price_counts % 2 = 1, if(base_is_token0, price_usd, quote_price_usd), 0) AS usd,
            price_counts % 8 >= 4 AS sure, native_usd, amount0 AS amount, amount_usd
        FROM swaps
        WHERE ord >= {first_ord:UInt64} AND ord <= {last_ord:UInt64} AND tracked
        UNION ALL
        SELECT ord, timestamp, token1 AS token,
            if(price_counts % 4 >= 2, if(base_is_token0, quote_price_usd, price_usd), 0) AS usd,
            price_counts % 16 >= 8 AS sure, native_usd, amount1 AS amount, amount_usd
        FROM swaps
        WHERE ord >= {first_ord:UInt64} AND ord <= {last_ord:UInt64} AND tracked
    ),
    recomputed AS (
        SELECT
            arrayJoin({timeframes:Array(UInt32)})::UInt32 AS timeframe, token,
            (timestamp - timestamp % timeframe)::UInt32 AS bucket,
            min((if(usd > 0, ord, toUInt64(-1)), usd)) AS ou,
            max((if(usd > 0, ord, 0), usd)) AS cu,
            max(usd) AS hu,
            min(if(usd > 0, usd, inf)) AS lu,
            min((if(native > 0, ord, toUInt64(-1)), native)) AS onv,
            max((if(native > 0, ord, 0), native)) AS cn,
            max(native) AS hn,
            min(if(native > 0, native, inf)) AS ln,
            if(timeframe = 3600, max(if(sure, usd, 0)), 0) AS ht,
            sum(toUInt256(if(amount < 0, -amount, amount))) AS v,
            sum(amount_usd) AS vu,
            count() AS n,
            countIf(amount < 0) AS b,
            max(ord) AS lo
        FROM (SELECT *, if(native_usd > 0, usd / native_usd, 0) AS native FROM sides)
        GROUP BY timeframe, token, bucket
    )
SELECT
    concat('token_bars timeframe=', toString(timeframe), ' token=0x', lower(hex(token)), ' time=', toString(bucket)) AS item,
    any(side) AS only_in,
    any(shown) AS value
FROM
(
    SELECT 'token_bars' AS side, *, toString((ou, cu, hu, lu, ht, v, vu, n, b, lo)) AS shown FROM stored
    UNION ALL
    SELECT 'swaps' AS side, *, toString((ou, cu, hu, lu, ht, v, vu, n, b, lo)) AS shown FROM recomputed
)
GROUP BY timeframe, token, bucket, ou, cu, hu, lu, onv, cn, hn, ln, ht, v, vu, n, b, lo
HAVING count() = 1
ORDER BY item, only_in
LIMIT 100
