-- Each row: the newest epoch record of one leg in (from_ord, to_ord], as of the snapshot. With `pairs` (hex without
-- 0x), finds the final rows through the projection by_pair, and reads them by ord. Without `pairs`, reads all rows of
-- the range: once when the ingester starts, and for the new blocks of each head.
SELECT *
FROM
(
    -- both parts
    SELECT * EXCEPT commit
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
ORDER BY ord DESC
LIMIT 1 BY pair, leg
LIMIT {limit:UInt32}
