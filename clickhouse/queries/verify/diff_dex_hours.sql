-- Each row: an hour of a DEX in one day that differs between dex_hours and swaps. Reads swaps by ord.
-- `value` has the swaps (n), those without a tracked value (un), volume and fees in USD (vu, fu), and the newest ord (lo).
SELECT
    concat('dex_hours dex=', dex, ' hour=', toString(hour)) AS item,
    any(side) AS only_in,
    toString((n, un, vu, fu, lo)) AS value
FROM
(
    SELECT 'dex_hours' AS side, dex, hour, sum(trades) AS n, sum(untracked) AS un, sum(volume_usd) AS vu,
        sum(fee_usd) AS fu, max(last_ord) AS lo
    FROM dex_hours
    WHERE hour >= {day:UInt32} AND hour < {day:UInt32} + 86400
    GROUP BY dex, hour
    UNION ALL
    SELECT 'swaps' AS side, dex, (timestamp - timestamp % 3600)::UInt32 AS hour, count() AS n, countIf(tracked = 0) AS un,
        sum(amount_usd) AS vu, sum(fee_usd) AS fu, max(ord) AS lo
    FROM swaps
    WHERE ord >= {first_ord:UInt64} AND ord <= {last_ord:UInt64}
    GROUP BY dex, hour
)
GROUP BY dex, hour, n, un, vu, fu, lo
HAVING count() = 1
ORDER BY item, only_in
LIMIT 100
