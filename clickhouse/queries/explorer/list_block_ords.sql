-- One row: where a log of any contract stands in [from_ord, to_ord], with `newest` the newest first. Read in the order of the
-- projection by_ord, which has all that is selected, until there are `limit`. The head twin is small.
SELECT toString(e.ord) AS ord
FROM
(
    -- both parts of logs
    SELECT ord
    FROM logs
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
