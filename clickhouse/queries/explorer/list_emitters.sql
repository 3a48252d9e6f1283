-- One row: how much a contract emitted as of the snapshot in the final part or in the head; RowBinary, as emitters.ts reads it. The
-- final part's may hold logs beyond the snapshot, which recount_emitters leaves out. Key (chain_id, address) of the projection
-- by_contract; the head twin is small. `address`, or `addresses`: hex without 0x.
(
    SELECT address, true AS final_part, count() AS logs, min(ord) AS first_ord, max(ord) AS last_ord
    FROM logs
    WHERE chain_id = {chain_id:UInt32}
        AND address = unhex({address:String}) -- if address
        AND address IN (SELECT toFixedString(unhex(arrayJoin({addresses:Array(String)})), 20)) -- if addresses
    GROUP BY chain_id, address
    LIMIT {limit:UInt32}
)
-- if commits
UNION ALL
(
    SELECT address, false AS final_part, count() AS logs, min(ord) AS first_ord, max(ord) AS last_ord
    FROM logs_head
    WHERE chain_id = {chain_id:UInt32}
        AND ord > {final_ord:UInt64}
        AND has({commits:Array(UInt64)}, commit)
        AND address = unhex({address:String}) -- if address
        AND address IN (SELECT toFixedString(unhex(arrayJoin({addresses:Array(String)})), 20)) -- if addresses
    GROUP BY address
    LIMIT {limit:UInt32}
)
-- end
