-- Each row: the newest state of one pool as of the snapshot. With `since_ord`, the result may leave out pools without
-- a later state. Reads pool_latest and the head states. If a pool's newest final state is newer than the snapshot,
-- the query finds an older state through the projection of_pair. Runs once for each new head.
-- `state` begins with ord and timestamp.
SELECT
    pair,
    (max(state) AS newest).1 AS ord,
    newest.2 AS timestamp,
    newest.3 AS reserve0,
    newest.4 AS reserve1,
    newest.5 AS sqrt_price_x96,
    newest.6 AS liquidity,
    newest.7 AS tick,
    newest.8 AS price,
    newest.9 AS unswapped,
    newest.10 AS walked_liquidity,
    newest.11 AS near0,
    newest.12 AS near1
FROM
(
    SELECT pair, state
    FROM pool_latest
    WHERE state.ord <= {tip_ord:UInt64}
        AND state.ord > {since_ord:UInt64} -- if since_ord
    UNION ALL
    SELECT
        pair,
        (
            ord, timestamp, reserve0, reserve1, sqrt_price_x96, liquidity, tick, price, unswapped, walked_liquidity,
            near0, near1
        )
    FROM pool_states_head_chain
    UNION ALL
    SELECT
        pair,
        (
            ord, timestamp, reserve0, reserve1, sqrt_price_x96, liquidity, tick, price, unswapped, walked_liquidity,
            near0, near1
        )
    FROM pool_states
    WHERE ord IN (
        SELECT max(ord)
        FROM pool_states
        WHERE pair IN (SELECT pair FROM pool_latest WHERE state.ord > {tip_ord:UInt64}) AND ord <= {final_ord:UInt64}
        GROUP BY pair
    )
)
GROUP BY pair
LIMIT {limit:UInt32}
