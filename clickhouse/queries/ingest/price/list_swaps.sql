-- Each row: one swap in a range of blocks, in canonical order.
SELECT
    ord,
    concat('0x', lower(hex(s.pair))) AS pair,
    leg,
    amount1,
    if(s.maker IS NULL, NULL, concat('0x', lower(hex(assumeNotNull(s.maker))))) AS maker
FROM swaps AS s
WHERE ord BETWEEN {from_ord:UInt64} AND {to_ord:UInt64}
ORDER BY s.ord
LIMIT {limit:UInt32}
