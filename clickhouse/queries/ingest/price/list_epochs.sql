-- Each row: the newest epoch record of one leg of a pool.
SELECT
    concat('0x', lower(hex(e.pair))) AS pair,
    leg,
    timestamp,
    price,
    reserve0,
    reserve1,
    liquidity,
    depth_liquidity,
    depth_weight,
    mean_log,
    traded,
    moved_at,
    unswapped,
    arrayMap(m -> concat('0x', lower(hex(m))), e.makers) AS makers,
    born_block
FROM pool_epochs AS e
WHERE ord <= {final_ord:UInt64}
ORDER BY e.ord DESC
LIMIT 1 BY e.pair, e.leg
LIMIT {limit:UInt32}
