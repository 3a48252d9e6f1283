-- Each row: an hour of a DEX in one day that differs between dex_hours and swaps. Reads swaps by ord.
-- `value` has the numbers of swaps and of swaps without a tracked value, volume and fees in USD, and the newest ord.
SELECT
    concat('dex_hours dex=', dex, ' hour=', toString(hour)) AS item,
    any(side) AS only_in,
    toString((trade_count, untracked_count, usd_volume, usd_fees, newest_ord)) AS value
FROM
(
    SELECT 'dex_hours' AS side, dex, hour, sum(trades) AS trade_count, sum(untracked) AS untracked_count, sum(volume_usd) AS usd_volume,
        sum(fee_usd) AS usd_fees, max(last_ord) AS newest_ord
    FROM dex_hours
    WHERE hour >= {day:UInt32} AND hour < {day:UInt32} + 86400
    GROUP BY dex, hour
    UNION ALL
    SELECT 'swaps' AS side, dex, (timestamp - timestamp % 3600)::UInt32 AS hour, count() AS trade_count, countIf(tracked = 0) AS untracked_count,
        sum(amount_usd) AS usd_volume, sum(fee_usd) AS usd_fees, max(ord) AS newest_ord
    FROM swaps
    WHERE ord >= {first_ord:UInt64} AND ord <= {last_ord:UInt64}
    GROUP BY dex, hour
)
GROUP BY dex, hour, trade_count, untracked_count, usd_volume, usd_fees, newest_ord
HAVING count() = 1
ORDER BY item, only_in
LIMIT 100
