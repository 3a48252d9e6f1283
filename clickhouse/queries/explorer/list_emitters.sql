-- One row: how much a contract emitted as of the snapshot. `ahead`: the final part holds logs beyond the snapshot, which
-- recount_emitters leaves out. Key (chain_id, address) of the projection by_emitter; the head twin is small. `addresses`: hex
-- without 0x.
SELECT
    concat('0x', lower(hex(e.emitter))) AS address,
    toString(sum(e.logs)) AS logs,
    toString(min(e.first_ord)) AS first_ord,
    toString(max(e.last_ord)) AS last_ord,
    toBool(max(e.final_part AND e.last_ord > {final_ord:UInt64})) AS ahead
FROM
(
    SELECT address AS emitter, count() AS logs, min(ord) AS first_ord, max(ord) AS last_ord, true AS final_part
    FROM logs
    WHERE chain_id = {chain_id:UInt32} AND address IN (SELECT toFixedString(unhex(arrayJoin({addresses:Array(String)})), 20))
    GROUP BY chain_id, address
    -- if commits
    UNION ALL
    SELECT address AS emitter, count() AS logs, min(ord) AS first_ord, max(ord) AS last_ord, false AS final_part
    FROM logs_head
    WHERE chain_id = {chain_id:UInt32}
        AND ord > {final_ord:UInt64}
        AND has({commits:Array(UInt64)}, commit)
        AND address IN (SELECT toFixedString(unhex(arrayJoin({addresses:Array(String)})), 20))
    GROUP BY address
    -- end
) AS e
GROUP BY e.emitter
LIMIT {limit:UInt32}
