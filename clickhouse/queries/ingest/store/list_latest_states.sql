-- Each row: the newest state of one pool, from pool_latest, which a view keeps up to date. The caller throws if the
-- answer reaches the limit.
SELECT
    pair,
    newest.reserve0 AS reserve0,
    newest.reserve1 AS reserve1,
    newest.sqrt_price_x96 AS sqrt_price_x96,
    newest.liquidity AS liquidity,
    newest.tick AS tick
FROM
(
    SELECT pair, max(state) AS newest
    FROM pool_latest
    GROUP BY pair
)
LIMIT {limit:UInt32}
