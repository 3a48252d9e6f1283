-- Each row: the newest epoch record of one leg in the canonical head. Reads all rows of the head
-- table, which is small.
SELECT
    concat('0x', lower(hex(e.pair))) AS pair,
    e.leg AS leg,
    toString(e.ord) AS at_ord,
    e.timestamp AS timestamp,
    e.price AS price,
    e.reserve0 AS reserve0,
    e.reserve1 AS reserve1,
    e.liquidity AS liquidity,
    e.depth_liquidity AS depth_liquidity,
    e.depth_weight AS depth_weight,
    e.mean_log AS mean_log,
    e.traded AS traded,
    e.moved_at AS moved_at,
    e.unswapped AS unswapped,
    arrayMap(m -> concat('0x', lower(hex(m))), e.makers) AS makers,
    e.born_block AS born_block
FROM pool_epochs_head AS e
WHERE has({commits:Array(UInt64)}, e.commit) AND e.ord > {final_ord:UInt64}
ORDER BY e.ord DESC
LIMIT 1 BY e.pair, e.leg
LIMIT {limit:UInt32}
