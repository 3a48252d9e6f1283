-- Each row: the log count of a contract as of the snapshot, with its positions. A log of a head block
-- is counted only if it is newer than the contract's newest stored log, because a promotion stores logs before the
-- snapshot's cursor moves. Uses the key (chain_id, address) of the projection by_contract. Reads all rows of the head
-- table, which is small. The parameter `address` or `addresses` is hex without 0x.
WITH
    max(e.last_ord) AS newest,
    arrayFilter(ord -> ord > newest, groupArrayArray(e.head_ords)) AS fresh
SELECT
    e.address AS address,
    sum(e.logs) + length(fresh) AS logs,
    if(newest > 0, minIf(e.first_ord, e.logs > 0), arrayMin(fresh)) AS first_ord,
    if(empty(fresh), newest, arrayMax(fresh)) AS last_ord
FROM
(
    SELECT address, count() AS logs, min(ord) AS first_ord, max(ord) AS last_ord, emptyArrayUInt64() AS head_ords
    FROM logs
    WHERE chain_id = {chain_id:UInt32}
        AND address = unhex({address:String}) -- if address
        AND address IN (SELECT toFixedString(unhex(arrayJoin({addresses:Array(String)})), 20)) -- if addresses
    GROUP BY chain_id, address
    LIMIT {limit:UInt32}
    -- if commits
    UNION ALL
    SELECT address, 0 AS logs, 0 AS first_ord, 0 AS last_ord, groupArray(ord) AS head_ords
    FROM logs_head_chain
    WHERE chain_id = {chain_id:UInt32}
        AND address = unhex({address:String}) -- if address
        AND address IN (SELECT toFixedString(unhex(arrayJoin({addresses:Array(String)})), 20)) -- if addresses
    GROUP BY address
    LIMIT {limit:UInt32}
    -- end
) AS e
GROUP BY e.address
LIMIT {limit:UInt32}
