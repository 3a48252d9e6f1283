-- Each row: a pool whose newest state differs between pool_latest and all final states. Scans pool_states once.
SELECT
    concat('pool_latest pair=0x', lower(hex(pair))) AS item,
    any(side) AS only_in,
    toString(newest) AS value
FROM
(
    SELECT 'pool_latest' AS side, pair, max(state) AS newest
    FROM pool_latest
    GROUP BY pair
    UNION ALL
    SELECT 'pool_states' AS side, pair,
        max(tuple(
            ord, timestamp, reserve0, reserve1, sqrt_price_x96, liquidity, tick, price, unswapped, walked_liquidity,
            near0, near1
        )) AS newest
    FROM pool_states
    GROUP BY pair
)
GROUP BY pair, newest
HAVING count() = 1
ORDER BY item, only_in
LIMIT 100
