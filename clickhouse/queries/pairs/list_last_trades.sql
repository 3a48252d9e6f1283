-- Each row: the time of the last trade of one pair as of the snapshot. With `since_ord`, only pairs with later trades
-- are returned. Reads pair_totals and the head swaps. If a pair's last final trade is newer than the snapshot, the
-- query finds an older swap through the projection of_pair. Runs once for each new head.
SELECT
    pair,
    max(traded_at) AS last_trade_at
FROM
(
    SELECT pair, last_trade_at AS traded_at
    FROM pair_totals
    WHERE last_ord <= {tip_ord:UInt64}
        AND last_ord > {since_ord:UInt64} -- if since_ord
    UNION ALL
    SELECT pair, timestamp AS traded_at
    FROM swaps_head_chain
    UNION ALL
    SELECT pair, timestamp AS traded_at
    FROM swaps
    WHERE ord IN (
        SELECT max(ord)
        FROM swaps
        WHERE pair IN (SELECT pair FROM pair_totals WHERE last_ord > {tip_ord:UInt64}) AND ord <= {final_ord:UInt64}
        GROUP BY pair
    )
)
GROUP BY pair
LIMIT {limit:UInt32}
