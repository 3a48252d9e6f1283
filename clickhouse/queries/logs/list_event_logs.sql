-- Each row: a log of one contract with one topic0 in [from_ord, to_ord]. With `newest`, the newest log comes first.
-- Reads the key (chain_id, address, topic0, ord) in order until the page is full. Reads all rows of the head table,
-- which is small. `topics0` to `topics3` list the accepted topics at each position; an empty list accepts any topic.
-- A log must also satisfy every clause k: the topic at position left_at[k] is left[k], or the topic at position
-- right_at[k] is right[k]. Topics are hex without 0x. `kept` holds the first `data_max` bytes of the data, so that
-- the engine never sends more.
SELECT *
FROM
(
    -- both parts
    SELECT ord, timestamp, address, topic_count, topic0, topic1, topic2, topic3,
        substring(data, 1, {data_max:UInt64}) AS kept, length(data) AS data_bytes, tx_hash, tx_index
    FROM logs_chain
    WHERE chain_id = {chain_id:UInt32}
        AND address = unhex({address:String})
        AND topic0 = unhex({topic0:String})
        AND topic_count > 0
        AND ord >= {from_ord:UInt64}
        AND ord <= {to_ord:UInt64}
        AND (topic_count > 1 AND topic1 IN (SELECT toFixedString(unhex(arrayJoin({topics1:Array(String)})), 32))) -- if topics1
        AND (topic_count > 2 AND topic2 IN (SELECT toFixedString(unhex(arrayJoin({topics2:Array(String)})), 32))) -- if topics2
        AND (topic_count > 3 AND topic3 IN (SELECT toFixedString(unhex(arrayJoin({topics3:Array(String)})), 32))) -- if topics3
        -- if left_at
        AND arrayAll(
            (left_position, left_topic, right_position, right_topic) ->
                (topic_count > left_position AND [topic0, topic1, topic2, topic3][left_position + 1] = unhex(left_topic))
                OR (topic_count > right_position AND [topic0, topic1, topic2, topic3][right_position + 1] = unhex(right_topic)),
            {left_at:Array(UInt8)}, {left:Array(String)}, {right_at:Array(UInt8)}, {right:Array(String)})
        -- end
    ORDER BY ord DESC -- if newest
    ORDER BY ord -- if oldest
    LIMIT {limit:UInt64} + {skip:UInt64}
    -- end
) AS e
ORDER BY e.ord DESC -- if newest
ORDER BY e.ord -- if oldest
LIMIT {limit:UInt64} OFFSET {skip:UInt64}
