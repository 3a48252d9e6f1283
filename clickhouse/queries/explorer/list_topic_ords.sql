-- One row: where a log with one topic0 stands in [from_ord, to_ord], with `newest` the newest first. Read in the order of the
-- projection by_topic, which has all that is selected, until there are `limit`. `topic0`: hex without 0x, not zero (absent topics
-- are stored so). The head twin is small.
SELECT toString(e.ord) AS ord
FROM
(
    -- both parts of logs
    SELECT ord
    FROM logs
    WHERE chain_id = {chain_id:UInt32}
        AND topic0 = unhex({topic0:String})
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
