-- One row: the number of events up to `final_ord`. Without `pair` (hex without 0x), counts the events of all pairs.
-- Reads the projection counts, which has one row for each pair and kind in each part of the table. During a promotion,
-- its counts already include events above final_ord. The query subtracts these few events, which it reads by the key
-- ord.
SELECT toUInt64(greatest(sum(e.events), 0)) AS events
FROM
(
    SELECT toInt64(count()) AS events
    FROM events
    WHERE kind IN {kinds:Array(String)}
        AND pair = unhex({pair:String}) -- if pair
    UNION ALL
    SELECT -toInt64(count()) AS events
    FROM events
    WHERE kind IN {kinds:Array(String)}
        AND pair = unhex({pair:String}) -- if pair
        AND ord > {final_ord:UInt64}
) AS e
LIMIT 1
