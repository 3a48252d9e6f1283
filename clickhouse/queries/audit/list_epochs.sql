-- Each row: the newest final epoch record of a leg of one of the given pools, with an ord in (after_ord, epoch_ord].
-- The parameter `pairs` is hex without 0x. Finds rows through the projection by_pair, and reads them by ord.
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
WHERE e.ord IN (
        SELECT max(ord)
        FROM pool_epochs
        WHERE pair IN (SELECT toFixedString(unhex(arrayJoin({pairs:Array(String)})), 20))
            AND ord > {after_ord:UInt64} AND ord <= least({final_ord:UInt64}, {epoch_ord:UInt64})
        GROUP BY pair
    )
    AND lower(hex(e.pair)) IN {pairs:Array(String)}
ORDER BY e.ord DESC
LIMIT 1 BY e.pair, e.leg
LIMIT {limit:UInt32}
