-- Each row: the newest log that changes the fee of one pool, as of the snapshot: a log of the pool, or a log of its vault
-- that names the pool in topic 1. With `since_ord`, only later changes are returned. The parameters `pairs` and `topics` are
-- hex without 0x. With `all_pools`, all pools of these protocols are returned. Uses the key (chain_id, address, topic0), a
-- granule or two for each pool and vault. Reads all rows of the head table, which is small.
SELECT
    pair,
    argMax(topic0, ord) AS topic,
    argMax(data, ord) AS fees
FROM
(
    SELECT if(topic_count = 1, address, toFixedString(substring(topic1, 13), 20)) AS pair, address, topic_count, ord, topic0, data
    FROM logs
    WHERE chain_id = {chain_id:UInt32}
        AND address IN (SELECT arrayJoin([address, factory]) FROM pools WHERE protocol IN {protocols:Array(String)} AND ord <= {final_ord:UInt64}) -- if all_pools
        AND address IN (SELECT toFixedString(unhex(arrayJoin({pairs:Array(String)})), 20) UNION ALL SELECT factory FROM pools WHERE address IN (SELECT toFixedString(unhex(arrayJoin({pairs:Array(String)})), 20))) -- if pairs
        AND topic0 IN (SELECT toFixedString(unhex(arrayJoin({topics:Array(String)})), 32))
        AND topic_count IN (1, 2)
        AND length(data) IN (32, 64, 96, 192, 224)
        AND ord <= {final_ord:UInt64}
        AND ord > {since_ord:UInt64} -- if since_ord
    -- if commits
    UNION ALL
    SELECT if(topic_count = 1, address, toFixedString(substring(topic1, 13), 20)) AS pair, address, topic_count, ord, topic0, data
    FROM logs_head_chain
    WHERE chain_id = {chain_id:UInt32}
        AND topic0 IN (SELECT toFixedString(unhex(arrayJoin({topics:Array(String)})), 32))
        AND topic_count IN (1, 2)
        AND length(data) IN (32, 64, 96, 192, 224)
    -- end
)
WHERE (topic_count = 1 OR (address, pair) IN (
        SELECT factory, address
        FROM pools_chain
        WHERE protocol IN {protocols:Array(String)}
    ))
    AND pair IN (SELECT toFixedString(unhex(arrayJoin({pairs:Array(String)})), 20)) -- if pairs
GROUP BY pair
LIMIT {limit:UInt32}
