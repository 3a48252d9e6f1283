-- One row about the newest final swaps of a pool in (after_ord, to_ord], at most `limit` of them: their number, and
-- the ords of the oldest and the newest one. Uses the projection of_pair, and reads only positions. Never reads other
-- pools.
SELECT
    count() AS rows,
    min(ord) AS oldest,
    max(ord) AS newest
FROM
(
    SELECT ord
    FROM swaps
    WHERE pair = unhex({key:String}) AND ord > {after_ord:UInt64} AND ord <= {to_ord:UInt64}
    ORDER BY ord DESC
    LIMIT {limit:UInt32}
)
LIMIT 1
