-- Each row: an ERC-721 Transfer (four topics) from or to an address in [from_ord, to_ord], newest or oldest first.
-- Reads all logs of the topic in the window through the projection by_topic, so the caller keeps the window small.
-- Reads all rows of the head table, which is small. `topic0` and `side` (the address as a topic) are hex without 0x.
SELECT
    e.ord AS ord,
    e.timestamp AS timestamp,
    e.address AS address,
    [e.topic0, e.topic1, e.topic2, e.topic3] AS topics,
    e.tx_hash AS tx_hash,
    e.tx_index AS tx_index
FROM
(
    -- both parts
    SELECT ord, timestamp, address, topic0, topic1, topic2, topic3, tx_hash, tx_index
    FROM logs_chain
    WHERE chain_id = {chain_id:UInt32}
        AND topic0 = unhex({topic0:String})
        AND ord >= {from_ord:UInt64}
        AND ord <= {to_ord:UInt64}
        AND topic_count = 4
        AND (topic1 = unhex({side:String}) OR topic2 = unhex({side:String}))
    ORDER BY if({newest:Bool}, -toInt64(ord), toInt64(ord))
    LIMIT {limit:UInt64}
    -- end
) AS e
ORDER BY if({newest:Bool}, -toInt64(e.ord), toInt64(e.ord))
LIMIT {limit:UInt64}
