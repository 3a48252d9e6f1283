-- One row: the newest epoch record of one leg of a pool.
SELECT
    concat('0x', lower(hex(e.pair))) AS pair,
    leg,
    ord,
    timestamp,
    price,
    reserve0,
    reserve1,
    liquidity,
    depth_liquidity,
    mean_log,
    traded,
    moved_at
FROM pool_epochs AS e
WHERE ord <= {final_ord:UInt64}
ORDER BY e.ord DESC
LIMIT 1 BY e.pair, e.leg
LIMIT {limit:UInt32}
