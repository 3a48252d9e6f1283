-- Each row: a pair whose totals differ between pair_totals and all final swaps. Scans swaps once.
-- `value` has the number of swaps, the oldest and the newest ord, and the time of the last trade.
SELECT
    concat('pair_totals pair=0x', lower(hex(pair))) AS item,
    any(side) AS only_in,
    toString((trade_count, oldest_ord, newest_ord, newest_trade_at)) AS value
FROM
(
    SELECT 'pair_totals' AS side, pair, sum(trades) AS trade_count, min(first_ord) AS oldest_ord, max(last_ord) AS newest_ord, max(last_trade_at) AS newest_trade_at
    FROM pair_totals
    GROUP BY pair
    UNION ALL
    SELECT 'swaps' AS side, pair, count() AS trade_count, min(ord) AS oldest_ord, max(ord) AS newest_ord, max(timestamp) AS newest_trade_at
    FROM swaps
    GROUP BY pair
)
GROUP BY pair, trade_count, oldest_ord, newest_ord, newest_trade_at
HAVING count() = 1
ORDER BY item, only_in
LIMIT 100
