-- Each row: the newest epoch record of one leg in (from_ord, to_ord], as of the snapshot. With `pairs` (hex without
-- 0x), finds the final rows through the projection by_pair, and reads them by ord. Without `pairs`, reads all rows of
-- the range: once when the ingester starts, and for the new blocks of each head.
SELECT * EXCEPT place
FROM
(
    -- both parts
    SELECT
        e.ord AS place,
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
    FROM pool_epochs_chain AS e
    WHERE e.ord > {from_ord:UInt64}
        AND e.ord <= {to_ord:UInt64}
        -- if pairs
        -- final part
        AND e.ord IN (
            SELECT max(ord)
            FROM pool_epochs
            WHERE pair IN (SELECT toFixedString(unhex(arrayJoin({pairs:Array(String)})), 20))
                AND ord > {from_ord:UInt64} AND ord <= least({final_ord:UInt64}, {to_ord:UInt64})
            GROUP BY pair
        )
        -- end
        AND lower(hex(e.pair)) IN {pairs:Array(String)}
        -- end
    ORDER BY e.ord DESC
    LIMIT 1 BY e.pair, e.leg
    -- end
)
ORDER BY place DESC
LIMIT 1 BY pair, leg
LIMIT {limit:UInt32}
