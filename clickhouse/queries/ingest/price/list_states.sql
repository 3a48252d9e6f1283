-- Each row: one pool state in a range of blocks, in canonical order.
SELECT
    ord,
    timestamp,
    kind,
    pair,
    maker,
    pool_type,
    reserve0,
    reserve1,
    liquidity,
    doubts,
    price,
    balances,
    params,
    walked_liquidity,
    near0,
    near1
FROM pool_states
WHERE ord BETWEEN {from_ord:UInt64} AND {to_ord:UInt64}
ORDER BY ord
LIMIT {limit:UInt32}
