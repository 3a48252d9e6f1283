-- Each row: the newest final log of one pool that changes its fee. The parameter `topics` is hex without 0x. Uses the
-- key (chain_id, address, topic0) and reads all such logs of these protocols, so the program runs this query at a start
-- only. The caller throws if the answer reaches the limit.
SELECT
    address AS pair,
    argMax(topic0, ord) AS topic,
    argMax(data, ord) AS fees
FROM logs
WHERE chain_id = {chain:UInt32}
    AND address IN (SELECT address FROM pools WHERE protocol IN {protocols:Array(String)} AND ord <= {final_ord:UInt64})
    AND topic0 IN (SELECT toFixedString(unhex(arrayJoin({topics:Array(String)})), 32))
    AND topic_count = 1
    AND length(data) IN (32, 64)
    AND ord <= {final_ord:UInt64}
GROUP BY address
LIMIT {limit:UInt32}
