-- Each row: the newest log of one pool that changes its fee, as of the snapshot. With `since_ord`, only later changes
-- are returned. The parameters `pairs` and `topics` are hex without 0x. With `all_pools`, all pools of these protocols
-- are returned. Uses the key (chain_id, address, topic0), a granule or two for each pool. Reads all rows of the head
-- table, which is small.
SELECT
    address AS pair,
    argMax(topic0, ord) AS topic,
    argMax(data, ord) AS fees
FROM
(
    SELECT address, ord, topic0, data
    FROM logs
    WHERE chain_id = {chain_id:UInt32}
        AND address IN (SELECT address FROM pools WHERE protocol IN {protocols:Array(String)} AND ord <= {final_ord:UInt64}) -- if all_pools
        AND address IN (SELECT toFixedString(unhex(arrayJoin({pairs:Array(String)})), 20)) -- if pairs
        AND topic0 IN (SELECT toFixedString(unhex(arrayJoin({topics:Array(String)})), 32))
        AND topic_count = 1
        AND length(data) IN (32, 64, 192, 224)
        AND ord <= {final_ord:UInt64}
        AND ord > {since_ord:UInt64} -- if since_ord
    -- if commits
    UNION ALL
    SELECT address, ord, topic0, data
    FROM logs_head_chain
    WHERE chain_id = {chain_id:UInt32}
        AND address IN (SELECT toFixedString(unhex(arrayJoin({pairs:Array(String)})), 20)) -- if pairs
        AND topic0 IN (SELECT toFixedString(unhex(arrayJoin({topics:Array(String)})), 32))
        AND topic_count = 1
        AND length(data) IN (32, 64, 192, 224)
    -- end
)
GROUP BY address
LIMIT {limit:UInt32}
