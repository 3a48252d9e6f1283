-- Each row: the maker of one final event in [from_ord, to_ord], in the first {blocks:UInt8} blocks with events. Reads
-- in the order of the key, so it ends early.
SELECT ord, maker
FROM events
WHERE ord >= {from_ord:UInt64} AND ord <=
(
    SELECT bitOr(max(first.ord), 1048575)
    FROM
    (
        SELECT ord
        FROM events
        WHERE ord >= {from_ord:UInt64} AND ord <= {to_ord:UInt64}
        ORDER BY ord
        LIMIT 1 BY bitShiftRight(ord, 20)
        LIMIT {blocks:UInt8}
    ) AS first
)
ORDER BY ord
LIMIT 1000000
