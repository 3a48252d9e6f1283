-- One row: where one matching event of (after_ord, to_ord] stands, in order. Key: ord.
-- `pair`, `token`, `maker`: hex without 0x, empty for any. A pair, or a token with `thin_token` (which excludes pair and
-- maker), is looked up in the projection by_pair, at most `thin_limit` ords; everything else reads the table in order.
-- `tx_index < 4294967295` holds for every row: it keeps the engine from reading the projection instead, which is in
-- another order. Must never read wide columns.
SELECT toString(e.ord) AS ord, event
FROM
(
    (
        SELECT ord, 'swap' AS event
        FROM swaps
        WHERE has({kinds:Array(String)}, 'swap')
            AND ord <= {final_ord:UInt64}
            AND ord > {after_ord:UInt64}
            AND ord <= {to_ord:UInt64}
            -- if pair
            AND ord IN (
                SELECT ord
                FROM swaps
                WHERE pair = unhex({pair:String})
                    AND ord <= {final_ord:UInt64}
                    AND ord > {after_ord:UInt64}
                    AND ord <= {to_ord:UInt64}
                ORDER BY ord
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
                ORDER BY ord
                LIMIT {thin_limit:UInt64}
            )
            -- end
            AND (token0 = unhex({token:String}) OR token1 = unhex({token:String})) -- if token
            AND maker = unhex({maker:String}) -- if maker
            AND tx_index < 4294967295
        ORDER BY ord
        LIMIT {limit:UInt64}
    )
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
        ORDER BY ord
        LIMIT {limit:UInt64}
    )
    -- end
    UNION ALL
    (
        SELECT ord, toString(kind) AS event
        FROM liquidity_events
        WHERE kind IN ('mint', 'burn')
            AND has({kinds:Array(String)}, toString(kind))
            AND ord <= {final_ord:UInt64}
            AND ord > {after_ord:UInt64}
            AND ord <= {to_ord:UInt64}
            -- if pair
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
            AND tx_index < 4294967295
        ORDER BY ord
        LIMIT {limit:UInt64}
    )
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
        ORDER BY ord
        LIMIT {limit:UInt64}
    )
    -- end
    UNION ALL
    (
        SELECT ord, 'sync' AS event
        FROM pool_states
        WHERE kind = 'sync'
            AND has({kinds:Array(String)}, 'sync')
            AND ord <= {final_ord:UInt64}
            AND ord > {after_ord:UInt64}
            AND ord <= {to_ord:UInt64}
            -- if pair
            AND ord IN (
                SELECT ord
                FROM pool_states
                WHERE pair = unhex({pair:String})
                    AND ord <= {final_ord:UInt64}
                    AND ord > {after_ord:UInt64}
                    AND ord <= {to_ord:UInt64}
                ORDER BY ord
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
                ORDER BY ord
                LIMIT {thin_limit:UInt64}
            )
            -- end
            AND (token0 = unhex({token:String}) OR token1 = unhex({token:String})) -- if token
            AND maker = unhex({maker:String}) -- if maker
            AND tx_index < 4294967295
        ORDER BY ord
        LIMIT {limit:UInt64}
    )
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
        ORDER BY ord
        LIMIT {limit:UInt64}
    )
    -- end
) AS e
ORDER BY e.ord
LIMIT {limit:UInt64}
