-- Each row: the newest final state of one of the given pools in the given epochs of 32 blocks (2^25 ords). The
-- parameter `pairs` is hex without 0x. Uses the key ord. Never reads other epochs.
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
WHERE intDiv(s.ord, 33554432) IN {epochs:Array(UInt64)} AND s.ord <= {final_ord:UInt64}
    AND lower(hex(s.pair)) IN {pairs:Array(String)}
ORDER BY s.ord DESC
LIMIT 1 BY s.pair
LIMIT {limit:UInt32}
