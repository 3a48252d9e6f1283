-- Each row: the newest state of one of the given pools up to `tip_ord`, as of the snapshot. The parameter `pairs` is
-- hex without 0x. With `epochs` (of 32 blocks, 2^25 ords), reads only these epochs of the final table, by the key ord.
-- With `older`, finds final rows through the projection of_pair, however old, and reads them by ord.
SELECT *
FROM
(
    -- both parts
    SELECT
        ord,
        timestamp,
        pair,
        reserve0,
        reserve1,
        liquidity,
        doubts,
        price,
        balances,
        params,
        unswapped,
        walked_liquidity,
        near0,
        near1
    FROM pool_states_chain AS s
    WHERE s.ord <= {tip_ord:UInt64}
        -- final part
        AND intDiv(s.ord, 33554432) IN {epochs:Array(UInt64)} -- if epochs
        -- if older
        AND s.ord IN (
            SELECT max(ord)
            FROM pool_states
            WHERE pair IN (SELECT toFixedString(unhex(arrayJoin({pairs:Array(String)})), 20))
                AND ord <= {final_ord:UInt64}
            GROUP BY pair
        )
        -- end
        -- end
        AND lower(hex(s.pair)) IN {pairs:Array(String)}
    ORDER BY s.ord DESC
    LIMIT 1 BY s.pair
    -- end
)
ORDER BY ord DESC
LIMIT 1 BY pair
LIMIT {limit:UInt32}
