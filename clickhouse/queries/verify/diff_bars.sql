-- Each row: a bar of one day whose values appear only in bars, or only in the recomputation from swaps. Reads
-- swaps by ord. Scans bars once a day, because no key starts with bucket.
-- `first` and `last` are (ord, price, price in USD). The short names are open, close, high and low, in USD with `u`.
WITH
    stored AS (
        SELECT
            timeframe, pair, leg, bucket,
            least((min(first).1, min(first).2), min(first_quote)) AS o,
            greatest((max(last).1, max(last).2), max(last_quote)) AS c,
            max(high) AS h, min(low) AS l,
            (min(first).1, min(first).3) AS ou, (max(last).1, max(last).3) AS cu, max(high_usd) AS hu, min(low_usd) AS lu,
            sum(volume0) AS v0, sum(volume1) AS v1, sum(volume_usd) AS vu, sum(fee_usd) AS fu,
            sum(trades) AS n, sum(untracked) AS un, sum(buys) AS b, greatest(max(last).1, max(other_ord)) AS lo
        FROM bars
        WHERE bucket >= {day:UInt32} AND bucket < {day:UInt32} + 86400
        GROUP BY timeframe, pair, leg, bucket
    ),
    recomputed AS (
        SELECT
            arrayJoin({timeframes:Array(UInt32)})::UInt32 AS timeframe, pair, leg,
            (timestamp - timestamp % timeframe)::UInt32 AS bucket,
            min((if(price > 0, ord, toUInt64(-1)), price)) AS o,
            max((if(price > 0, ord, 0), price)) AS c,
            max(price) AS h,
            min(if(price > 0, price, inf)) AS l,
            min((if(price_usd > 0, ord, toUInt64(-1)), price_usd)) AS ou,
            max((if(price_usd > 0, ord, 0), price_usd)) AS cu,
            max(price_usd) AS hu,
            min(if(price_usd > 0, price_usd, inf)) AS lu,
            sum(toUInt256(if(amount0 < 0, -amount0, amount0))) AS v0,
            sum(toUInt256(if(amount1 < 0, -amount1, amount1))) AS v1,
            sum(amount_usd) AS vu, sum(fee_usd) AS fu,
            count() AS n, countIf(tracked = 0) AS un,
            countIf((base_is_token0 AND amount0 < 0) OR (NOT base_is_token0 AND amount1 < 0)) AS b,
            max(ord) AS lo
        FROM swaps
        WHERE ord >= {first_ord:UInt64} AND ord <= {last_ord:UInt64}
        GROUP BY timeframe, pair, leg, bucket
    )
SELECT
    concat('bars timeframe=', toString(timeframe), ' pair=0x', lower(hex(pair)), ' time=', toString(bucket)) AS item,
    any(side) AS only_in,
    any(shown) AS value
FROM
(
    SELECT 'bars' AS side, *, toString((o, c, h, l, v0, v1, vu, n, b, lo)) AS shown FROM stored
    UNION ALL
    SELECT 'swaps' AS side, *, toString((o, c, h, l, v0, v1, vu, n, b, lo)) AS shown FROM recomputed
)
GROUP BY timeframe, pair, leg, bucket, o, c, h, l, ou, cu, hu, lu, v0, v1, vu, fu, n, un, b, lo
HAVING count() = 1
ORDER BY item, only_in
LIMIT 100
