-- One row: how often an address got a V3 position as of the snapshot, and some of the final ones that came later: 0 means
-- that it owns none. Key (owner) of owner_positions; the head twin is small.
SELECT toUInt32(sum(o.got)) AS got
FROM
(
    SELECT count() AS got
    FROM owner_positions
    WHERE owner = unhex({owner:String})
    UNION ALL
    SELECT count() AS got
    FROM position_events_head
    WHERE has({commits:Array(UInt64)}, commit)
        AND ord > {final_ord:UInt64}
        AND kind = 'transfer'
        AND recipient = unhex({owner:String})
) AS o
LIMIT 1
