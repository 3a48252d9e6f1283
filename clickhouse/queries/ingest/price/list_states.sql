-- Each row: one pool state in a range of blocks, in canonical order.
SELECT
    ord,
    timestamp,
    toString(kind) AS kind,
    concat('0x', lower(hex(s.pair))) AS pair,
    reserve0,
    reserve1,
    liquidity,
    doubts,
    price,
    arrayMap(b -> toString(b), s.balances) AS balances,
    walked_liquidity,
    near0,
    near1
FROM pool_states AS s
WHERE ord BETWEEN {from_ord:UInt64} AND {to_ord:UInt64}
ORDER BY s.ord
LIMIT {limit:UInt32}
