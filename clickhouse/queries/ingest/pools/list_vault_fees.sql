-- Each row: the newest log of one length with a topic of a fee change, of one of the given pools of many tokens. Newest
-- first.
SELECT
    address,
    ord,
    topic0 AS topic,
    data
FROM logs
WHERE chain_id = {chain:UInt32}
    AND address IN (SELECT toFixedString(unhex(arrayJoin({pools:Array(String)})), 20))
    AND topic0 IN (SELECT toFixedString(unhex(arrayJoin({topics:Array(String)})), 32))
    AND topic_count = 1
    AND length(data) IN (32, 64, 96, 192, 224)
    AND ord <= {final_ord:UInt64}
ORDER BY ord DESC
LIMIT 1 BY address, topic0, length(data)
LIMIT 2 * length({pools:Array(String)}) * length({topics:Array(String)})
