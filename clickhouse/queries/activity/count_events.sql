-- One row: how many matching events lie in (after_ord, to_ord]. Key: ord; with a pair alone (`pair_alone`) the projections by_pair
-- and by_pair_kind, beside others (`pair_narrowed`) these for its ords. `pair`, `token`, `maker`: hex without 0x, empty for any.
-- Callers count final rows once and then only what was added: without `in_final` the final tables are not looked at.
SELECT toString(sum(events)) AS events
FROM
(
    (
        SELECT toUInt64(0) AS events
    )
    -- if in_final
    UNION ALL
    (
        SELECT count() AS events
        FROM swaps
        WHERE has({kinds:Array(String)}, 'swap')
            AND ord <= {final_ord:UInt64}
            AND ord > {after_ord:UInt64}
            AND ord <= {to_ord:UInt64}
            AND pair = unhex({pair:String}) -- if pair
            AND (token0 = unhex({token:String}) OR token1 = unhex({token:String})) -- if token
            AND maker = unhex({maker:String}) -- if maker
    )
    -- end
    -- if commits
    UNION ALL
    (
        SELECT count() AS events
        FROM swaps_head
        WHERE has({kinds:Array(String)}, 'swap')
            AND has({commits:Array(UInt64)}, commit)
            AND ord > {final_ord:UInt64}
            AND ord > {after_ord:UInt64}
            AND ord <= {to_ord:UInt64}
            AND pair = unhex({pair:String}) -- if pair
            AND (token0 = unhex({token:String}) OR token1 = unhex({token:String})) -- if token
            AND maker = unhex({maker:String}) -- if maker
    )
    -- end
    -- if in_final
    UNION ALL
    (
        SELECT count() AS events
        FROM liquidity_events
        WHERE kind IN ('mint', 'burn')
            AND has({kinds:Array(String)}, toString(kind))
            AND ord <= {final_ord:UInt64}
            AND ord > {after_ord:UInt64}
            AND ord <= {to_ord:UInt64}
            AND pair = unhex({pair:String}) -- if pair
            AND (token0 = unhex({token:String}) OR token1 = unhex({token:String})) -- if token
            AND maker = unhex({maker:String}) -- if maker
    )
    -- end
    -- if commits
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
            AND pair = unhex({pair:String}) -- if pair
            AND (token0 = unhex({token:String}) OR token1 = unhex({token:String})) -- if token
            AND maker = unhex({maker:String}) -- if maker
    )
    -- end
    -- if in_final
    UNION ALL
    (
        SELECT count() AS events
        FROM pool_states
        WHERE kind = 'sync'
            AND has({kinds:Array(String)}, 'sync')
            AND ord <= {final_ord:UInt64}
            AND ord > {after_ord:UInt64}
            AND ord <= {to_ord:UInt64}
            AND pair = unhex({pair:String}) -- if pair_alone
            -- if pair_narrowed
            AND ord IN (
                SELECT ord
                FROM pool_states
                WHERE pair = unhex({pair:String})
                    AND ord <= {final_ord:UInt64}
                    AND ord > {after_ord:UInt64}
                    AND ord <= {to_ord:UInt64}
            )
            -- end
            AND (token0 = unhex({token:String}) OR token1 = unhex({token:String})) -- if token
            AND maker = unhex({maker:String}) -- if maker
    )
    -- end
    -- if commits
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
            AND pair = unhex({pair:String}) -- if pair
            AND (token0 = unhex({token:String}) OR token1 = unhex({token:String})) -- if token
            AND maker = unhex({maker:String}) -- if maker
    )
    -- end
)
LIMIT 1
