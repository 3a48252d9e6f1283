-- Each row: the newest state of one of the given pools in the head up to `tip_ord`. The parameter `pairs` is hex
-- without 0x. Reads all rows of the head table, which is small.
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
FROM pool_states_head AS s
WHERE has({commits:Array(UInt64)}, s.commit) AND s.ord > {final_ord:UInt64} AND s.ord <= {tip_ord:UInt64}
    AND lower(hex(s.pair)) IN {pairs:Array(String)}
ORDER BY s.ord DESC
LIMIT 1 BY s.pair
LIMIT {limit:UInt32}
