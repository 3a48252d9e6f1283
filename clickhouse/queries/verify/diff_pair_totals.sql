-- Each row: a pair whose totals differ between pair_totals and all final swaps. Scans swaps once.
-- `value` has the number of swaps (n), the first and the last ord (fo, lo), and the time of the last trade (lt).
SELECT
    concat('pair_totals pair=0x', lower(hex(pair))) AS item,
    any(side) AS only_in,
    toString((n, fo, lo, lt)) AS value
FROM
(
    SELECT 'pair_totals' AS side, pair, sum(trades) AS n, min(first_ord) AS fo, max(last_ord) AS lo, max(last_trade_at) AS lt
    FROM pair_totals
    GROUP BY pair
    UNION ALL
    SELECT 'swaps' AS side, pair, count() AS n, min(ord) AS fo, max(ord) AS lo, max(timestamp) AS lt
    FROM swaps
    GROUP BY pair
)
GROUP BY pair, n, fo, lo, lt
HAVING count() = 1
ORDER BY item, only_in
LIMIT 100
