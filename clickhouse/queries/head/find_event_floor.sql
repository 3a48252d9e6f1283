-- One row: the ord of the event that stands right behind the newest `keep` matches in (after_ord, to_ord]; no row when
-- there are no more than `keep`. Reads by ord from above, or by the projection by_pair where a pair is asked for.
-- `pair`, `token`, `maker`: hex without 0x, empty for any. Must never read past keep + 1 matches of a table.
WITH
    (
        ord > {after_ord:UInt64} AND ord <= {to_ord:UInt64}
        AND ({pair:String} = '' OR pair = unhex({pair:String}))
        AND ({token:String} = '' OR token0 = unhex({token:String}) OR token1 = unhex({token:String}))
        AND ({maker:String} = '' OR maker = unhex({maker:String}))
    ) AS fits
SELECT toString(e.ord) AS ord
FROM
(
    (
        SELECT ord
        FROM swaps
        WHERE has({kinds:Array(String)}, 'swap') AND ord <= {final_ord:UInt64} AND fits
        ORDER BY ord DESC
        LIMIT {keep:UInt32} + 1
    )
    UNION ALL
    (
        SELECT ord
        FROM swaps_head
        WHERE has({kinds:Array(String)}, 'swap') AND has({commits:Array(UInt64)}, commit) AND fits
        ORDER BY ord DESC
        LIMIT {keep:UInt32} + 1
    )
    UNION ALL
    (
        SELECT ord
        FROM liquidity_events
        WHERE kind IN ('mint', 'burn') AND has({kinds:Array(String)}, toString(kind)) AND ord <= {final_ord:UInt64} AND fits
        ORDER BY ord DESC
        LIMIT {keep:UInt32} + 1
    )
    UNION ALL
    (
        SELECT ord
        FROM liquidity_events_head
        WHERE kind IN ('mint', 'burn') AND has({kinds:Array(String)}, toString(kind))
            AND has({commits:Array(UInt64)}, commit) AND fits
        ORDER BY ord DESC
        LIMIT {keep:UInt32} + 1
    )
    UNION ALL
    (
        SELECT ord
        FROM pool_states
        WHERE kind = 'sync' AND has({kinds:Array(String)}, 'sync') AND ord <= {final_ord:UInt64} AND fits
        ORDER BY ord DESC
        LIMIT {keep:UInt32} + 1
    )
    UNION ALL
    (
        SELECT ord
        FROM pool_states_head
        WHERE kind = 'sync' AND has({kinds:Array(String)}, 'sync') AND has({commits:Array(UInt64)}, commit) AND fits
        ORDER BY ord DESC
        LIMIT {keep:UInt32} + 1
    )
) AS e
ORDER BY e.ord DESC
LIMIT 1 OFFSET {keep:UInt32}
