-- Each row: a bar of one day whose values appear only in bars, or only in the recomputation from swaps. Reads
-- swaps by ord. Scans the whole of bars for each day, because no key starts with bucket.
-- `first` and `last` are (ord, price, price in USD). bar_open to bar_low are prices in the quote
-- token, usd_open to usd_low prices in USD.
WITH
    stored AS (
        SELECT
            timeframe, pair, leg, bucket,
            least((min(first).1, min(first).2), min(first_quote)) AS bar_open,
            greatest((max(last).1, max(last).2), max(last_quote)) AS bar_close,
            max(high) AS bar_high, min(low) AS bar_low,
            (min(first).1, min(first).3) AS usd_open, (max(last).1, max(last).3) AS usd_close, max(high_usd) AS usd_high, min(low_usd) AS usd_low,
            sum(volume0) AS bar_volume0, sum(volume1) AS bar_volume1, sum(volume_usd) AS usd_volume, sum(fee_usd) AS usd_fees,
            sum(trades) AS trade_count, sum(untracked) AS untracked_count, sum(buys) AS buy_count, greatest(max(last).1, max(other_ord)) AS newest_ord
        FROM bars
        WHERE bucket >= {day:UInt32} AND bucket < {day:UInt32} + 86400
        GROUP BY timeframe, pair, leg, bucket
    ),
    recomputed AS (
        SELECT
            arrayJoin({timeframes:Array(UInt32)})::UInt32 AS timeframe, pair, leg,
            (timestamp - timestamp % timeframe)::UInt32 AS bucket,
            min((if(price > 0, ord, toUInt64(-1)), price)) AS bar_open,
            max((if(price > 0, ord, 0), price)) AS bar_close,
            max(price) AS bar_high,
            min(if(price > 0, price, inf)) AS bar_low,
            min((if(price_usd > 0, ord, toUInt64(-1)), price_usd)) AS usd_open,
            max((if(price_usd > 0, ord, 0), price_usd)) AS usd_close,
            max(price_usd) AS usd_high,
            min(if(price_usd > 0, price_usd, inf)) AS usd_low,
            sum(toUInt256(if(amount0 < 0, -amount0, amount0))) AS bar_volume0,
            sum(toUInt256(if(amount1 < 0, -amount1, amount1))) AS bar_volume1,
            sum(amount_usd) AS usd_volume, sum(fee_usd) AS usd_fees,
            count() AS trade_count, countIf(tracked = 0) AS untracked_count,
            countIf((base_is_token0 AND amount0 < 0) OR (NOT base_is_token0 AND amount1 < 0)) AS buy_count,
            max(ord) AS newest_ord
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
    SELECT 'bars' AS side, *, toString((bar_open, bar_close, bar_high, bar_low, bar_volume0, bar_volume1, usd_volume, trade_count, buy_count, newest_ord)) AS shown FROM stored
    UNION ALL
    SELECT 'swaps' AS side, *, toString((bar_open, bar_close, bar_high, bar_low, bar_volume0, bar_volume1, usd_volume, trade_count, buy_count, newest_ord)) AS shown FROM recomputed
)
GROUP BY timeframe, pair, leg, bucket, bar_open, bar_close, bar_high, bar_low, usd_open, usd_close, usd_high, usd_low, bar_volume0, bar_volume1, usd_volume, usd_fees, trade_count, untracked_count, buy_count, newest_ord
HAVING count() = 1
ORDER BY item, only_in
LIMIT 100
