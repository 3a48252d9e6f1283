-- One row: where one matching event of (after_ord, to_ord] stands, newest first. Key: ord, read backwards.
-- `pair`, `token`, `maker`: hex without 0x, empty for any. A pair alone (`pair_alone`) is read from the projections by_pair and
-- by_pair_kind. A pair beside others (`pair_narrowed`), or a token with `thin_token` (which excludes pair and maker), is looked up
-- there, at most `thin_limit` ords; everything else reads the table in order. `tx_index < 4294967295` holds for every row: with
-- `in_order` it keeps the engine from reading the projection instead, which is in another order. Without `in_final` the final
-- tables are not looked at. Must never read wide columns.
SELECT toString(e.ord) AS ord, event
FROM
(
    (
        SELECT toUInt64(0) AS ord, '' AS event
        WHERE false
    )
    -- if in_final
    UNION ALL
    (
        SELECT ord, 'swap' AS event
        FROM swaps
        WHERE has({kinds:Array(String)}, 'swap')
            AND ord <= {final_ord:UInt64}
            AND ord > {after_ord:UInt64}
            AND ord <= {to_ord:UInt64}
            AND pair = unhex({pair:String}) -- if pair_alone
            -- if pair_narrowed
            AND ord IN (
                SELECT ord
                FROM swaps
                WHERE pair = unhex({pair:String})
                    AND ord <= {final_ord:UInt64}
                    AND ord > {after_ord:UInt64}
                    AND ord <= {to_ord:UInt64}
                ORDER BY ord DESC
                LIMIT {thin_limit:UInt64}
            )
            -- end
            -- if thin_token
            AND ord IN (
                SELECT ord
                FROM swaps
                WHERE pair IN (
                    SELECT address
                    FROM pools
                    WHERE token0 = unhex({token:String}) OR token1 = unhex({token:String})
                )
                    AND ord <= {final_ord:UInt64}
                    AND ord > {after_ord:UInt64}
                    AND ord <= {to_ord:UInt64}
                ORDER BY ord DESC
                LIMIT {thin_limit:UInt64}
            )
            -- end
            AND (token0 = unhex({token:String}) OR token1 = unhex({token:String})) -- if token
            AND maker = unhex({maker:String}) -- if maker
            AND tx_index < 4294967295 -- if in_order
        ORDER BY ord DESC
        LIMIT {limit:UInt64} + {skip:UInt64}
    )
    -- end
    -- if commits
    UNION ALL
    (
        SELECT ord, 'swap' AS event
        FROM swaps_head
        WHERE has({kinds:Array(String)}, 'swap')
            AND has({commits:Array(UInt64)}, commit)
            AND ord > {final_ord:UInt64}
            AND ord > {after_ord:UInt64}
            AND ord <= {to_ord:UInt64}
            AND pair = unhex({pair:String}) -- if pair
            AND (token0 = unhex({token:String}) OR token1 = unhex({token:String})) -- if token
            AND maker = unhex({maker:String}) -- if maker
        ORDER BY ord DESC
        LIMIT {limit:UInt64} + {skip:UInt64}
    )
    -- end
    -- if in_final
    UNION ALL
    (
        SELECT ord, toString(kind) AS event
        FROM liquidity_events
        WHERE kind IN ('mint', 'burn')
            AND has({kinds:Array(String)}, toString(kind))
            AND ord <= {final_ord:UInt64}
            AND ord > {after_ord:UInt64}
            AND ord <= {to_ord:UInt64}
            AND pair = unhex({pair:String}) -- if pair_alone
            -- if pair_narrowed
            AND ord IN (
                SELECT ord
                FROM liquidity_events
                WHERE pair = unhex({pair:String})
                    AND ord <= {final_ord:UInt64}
                    AND ord > {after_ord:UInt64}
                    AND ord <= {to_ord:UInt64}
            )
            -- end
            AND (token0 = unhex({token:String}) OR token1 = unhex({token:String})) -- if token
            AND maker = unhex({maker:String}) -- if maker
            AND tx_index < 4294967295 -- if in_order
        ORDER BY ord DESC
        LIMIT {limit:UInt64} + {skip:UInt64}
    )
    -- end
    -- if commits
    UNION ALL
    (
        SELECT ord, toString(kind) AS event
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
        ORDER BY ord DESC
        LIMIT {limit:UInt64} + {skip:UInt64}
    )
    -- end
    -- if in_final
    UNION ALL
    (
        SELECT ord, 'sync' AS event
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
                ORDER BY ord DESC
                LIMIT {thin_limit:UInt64}
            )
            -- end
            -- if thin_token
            AND ord IN (
                SELECT ord
                FROM pool_states
                WHERE pair IN (
                    SELECT address
                    FROM pools
                    WHERE token0 = unhex({token:String}) OR token1 = unhex({token:String})
                )
                    AND ord <= {final_ord:UInt64}
                    AND ord > {after_ord:UInt64}
                    AND ord <= {to_ord:UInt64}
                ORDER BY ord DESC
                LIMIT {thin_limit:UInt64}
            )
            -- end
            AND (token0 = unhex({token:String}) OR token1 = unhex({token:String})) -- if token
            AND maker = unhex({maker:String}) -- if maker
            AND tx_index < 4294967295 -- if in_order
        ORDER BY ord DESC
        LIMIT {limit:UInt64} + {skip:UInt64}
    )
    -- end
    -- if commits
    UNION ALL
    (
        SELECT ord, 'sync' AS event
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
        ORDER BY ord DESC
        LIMIT {limit:UInt64} + {skip:UInt64}
    )
    -- end
) AS e
ORDER BY e.ord DESC
LIMIT {limit:UInt64} OFFSET {skip:UInt64}
