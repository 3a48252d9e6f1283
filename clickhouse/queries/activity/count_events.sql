-- One row: how many matching events lie in (after_ord, to_ord]. Key: ord; with a pair the projection by_pair. `pair`,
-- `token`, `maker`: hex without 0x, empty for any. Callers count final rows once and then only what was added.
SELECT toString(sum(events)) AS events
FROM
(
    (
        SELECT count() AS events
        FROM swaps
        WHERE has({kinds:Array(String)}, 'swap')
            AND ord <= {final_ord:UInt64}
            AND ord > {after_ord:UInt64}
            AND ord <= {to_ord:UInt64}
            AND ({pair:String} = '' OR pair = unhex({pair:String}))
            AND ({token:String} = '' OR token0 = unhex({token:String}) OR token1 = unhex({token:String}))
            AND ({maker:String} = '' OR maker = unhex({maker:String}))
    )
    UNION ALL
    (
        SELECT count() AS events
        FROM swaps_head
        WHERE has({kinds:Array(String)}, 'swap')
            AND has({commits:Array(UInt64)}, commit)
            AND ord > {final_ord:UInt64}
            AND ord > {after_ord:UInt64}
            AND ord <= {to_ord:UInt64}
            AND ({pair:String} = '' OR pair = unhex({pair:String}))
            AND ({token:String} = '' OR token0 = unhex({token:String}) OR token1 = unhex({token:String}))
            AND ({maker:String} = '' OR maker = unhex({maker:String}))
    )
    UNION ALL
    (
        SELECT count() AS events
        FROM liquidity_events
        WHERE kind IN ('mint', 'burn')
            AND has({kinds:Array(String)}, toString(kind))
            AND ord <= {final_ord:UInt64}
            AND ord > {after_ord:UInt64}
            AND ord <= {to_ord:UInt64}
            AND ({pair:String} = '' OR pair = unhex({pair:String}))
            AND ({token:String} = '' OR token0 = unhex({token:String}) OR token1 = unhex({token:String}))
            AND ({maker:String} = '' OR maker = unhex({maker:String}))
    )
    UNION ALL
    (
        SELECT count() AS events
        FROM liquidity_events_head
        WHERE kind IN ('mint', 'burn')
            AND has({kinds:Array(String)}, toString(kind))
            AND has({commits:Array(UInt64)}, commit)
            AND ord > {final_ord:UInt64}
            AND ord > {after_ord:UInt64}
            AND ord <= {to_ord:UInt64}
            AND ({pair:String} = '' OR pair = unhex({pair:String}))
            AND ({token:String} = '' OR token0 = unhex({token:String}) OR token1 = unhex({token:String}))
            AND ({maker:String} = '' OR maker = unhex({maker:String}))
    )
    UNION ALL
    (
        SELECT count() AS events
        FROM pool_states
        WHERE kind = 'sync'
            AND has({kinds:Array(String)}, 'sync')
            AND ord <= {final_ord:UInt64}
            AND ord > {after_ord:UInt64}
            AND ord <= {to_ord:UInt64}
            AND ({pair:String} = '' OR ord IN (
                SELECT ord
                FROM pool_states
                WHERE pair = unhex({pair:String})
                    AND ord <= {final_ord:UInt64}
                    AND ord > {after_ord:UInt64}
                    AND ord <= {to_ord:UInt64}
            ))
            AND ({token:String} = '' OR token0 = unhex({token:String}) OR token1 = unhex({token:String}))
            AND ({maker:String} = '' OR maker = unhex({maker:String}))
    )
    UNION ALL
    (
        SELECT count() AS events
        FROM pool_states_head
        WHERE kind = 'sync'
            AND has({kinds:Array(String)}, 'sync')
            AND has({commits:Array(UInt64)}, commit)
            AND ord > {final_ord:UInt64}
            AND ord > {after_ord:UInt64}
            AND ord <= {to_ord:UInt64}
            AND ({pair:String} = '' OR pair = unhex({pair:String}))
            AND ({token:String} = '' OR token0 = unhex({token:String}) OR token1 = unhex({token:String}))
            AND ({maker:String} = '' OR maker = unhex({maker:String}))
    )
)
LIMIT 1
