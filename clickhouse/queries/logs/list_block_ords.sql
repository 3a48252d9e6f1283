-- Each row: the ord of a log of any contract in [from_ord, to_ord]. With `newest`, the newest log comes first. Reads
-- the projection by_ord in order until `limit` rows; the projection holds every selected column. Reads all rows of the
-- head table, which is small.
SELECT e.ord AS ord
FROM
(
    -- both parts
    SELECT ord
    FROM logs_chain
    WHERE chain_id = {chain_id:UInt32}
        AND ord >= {from_ord:UInt64}
        AND ord <= {to_ord:UInt64}
    ORDER BY ord DESC -- if newest
    ORDER BY ord -- if oldest
    LIMIT {limit:UInt64}
    -- end
) AS e
ORDER BY e.ord DESC -- if newest
ORDER BY e.ord -- if oldest
LIMIT {limit:UInt64}
