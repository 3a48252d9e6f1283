-- One row: how much a contract emitted as of the snapshot, counted log by log: only for the moment in which the final table is
-- ahead of the snapshot. Key (chain_id, address); reads no column but ord. `addresses`: hex without 0x. Columns as list_emitters.
SELECT e.address AS address, true AS final_part, count() AS logs, min(e.ord) AS first_ord, max(e.ord) AS last_ord
FROM
(
    SELECT address, ord
    FROM logs
    WHERE chain_id = {chain_id:UInt32} AND address IN (SELECT toFixedString(unhex(arrayJoin({addresses:Array(String)})), 20)) AND ord <= {final_ord:UInt64}
    UNION ALL
    SELECT address, ord
    FROM logs_head
    WHERE chain_id = {chain_id:UInt32}
        AND ord > {final_ord:UInt64}
        AND has({commits:Array(UInt64)}, commit)
        AND address IN (SELECT toFixedString(unhex(arrayJoin({addresses:Array(String)})), 20))
) AS e
GROUP BY e.address
LIMIT {limit:UInt32}
