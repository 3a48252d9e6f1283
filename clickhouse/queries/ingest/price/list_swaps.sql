-- Each row: one swap in a range of blocks, in canonical order.
SELECT
    ord,
    pair,
    leg,
    amount1,
    maker
FROM swaps
WHERE ord BETWEEN {from_ord:UInt64} AND {to_ord:UInt64}
ORDER BY ord
LIMIT {limit:UInt32}
