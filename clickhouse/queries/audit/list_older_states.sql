-- Each row: the newest final state of one of the given pools, however old. The parameter `pairs` is hex without 0x.
-- Finds rows through the projection by_pair_kind, and reads them by ord. Runs only for the few pools without a state
-- in the head and in the epochs that list_states reads.
SELECT
    concat('0x', lower(hex(s.pair))) AS pair,
    toString(s.ord) AS at_ord,
    toString(s.reserve0) AS reserve0,
    toString(s.reserve1) AS reserve1,
    toString(s.liquidity) AS liquidity,
    s.doubts AS doubts,
    s.price AS price,
    arrayMap(b -> toString(b), s.balances) AS balances,
    s.unswapped AS unswapped,
    s.walked_liquidity AS walked_liquidity,
    s.near0 AS near0,
    s.near1 AS near1
FROM pool_states AS s
WHERE s.ord IN (
        SELECT max(ord)
        FROM pool_states
        WHERE pair IN (SELECT toFixedString(unhex(arrayJoin({pairs:Array(String)})), 20)) AND ord <= {final_ord:UInt64}
        GROUP BY pair
    )
    AND lower(hex(s.pair)) IN {pairs:Array(String)}
ORDER BY s.ord DESC
LIMIT 1 BY s.pair
LIMIT {limit:UInt32}
