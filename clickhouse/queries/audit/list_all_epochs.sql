-- Each row: the newest final epoch record of one leg with an ord in (from_ord, final_ord]. Uses the key ord. The
-- caller keeps the records in memory and updates them for each new head: the first read returns all records, a
-- later read only the records that were stored since.
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
FROM pool_epochs AS e
WHERE e.ord > {from_ord:UInt64} AND e.ord <= {final_ord:UInt64}
ORDER BY e.ord DESC
LIMIT 1 BY e.pair, e.leg
LIMIT {limit:UInt32}
