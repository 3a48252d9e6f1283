-- Each row: the ord of a matching log in [from_ord, to_ord], newest or oldest first. With `tx_hash`, the
-- query finds the logs by the first four bytes of the hash in the projection by_tx. Without `tx_hash`, the
-- query reads the window's part of the key ranges of `addresses` and `topics0`; without addresses too, it
-- reads the projections by_topic and by_ord. The caller keeps the window small. The head table is read as a
-- whole, because it is small.
--
-- The parameters `addresses` and `tx_hash` are hex without 0x; an empty value means any. `topics0` to
-- `topics3` list the accepted topics at each position; an empty list accepts any topic. A log must also
-- satisfy every clause k: the topic at position left_at[k] is left[k], or the topic at position right_at[k]
-- is right[k]. Topics are hex without 0x.
SELECT e.ord AS ord
FROM
(
    -- both parts
    SELECT ord
    FROM logs_chain
    WHERE chain_id = {chain_id:UInt32}
        AND ord >= {from_ord:UInt64}
        AND ord <= {to_ord:UInt64}
        AND tx_hash = unhex({tx_hash:String}) -- if tx_hash
        AND reinterpretAsUInt32(tx_hash) = reinterpretAsUInt32(unhex({tx_hash:String})) -- if tx_hash
        AND address IN (SELECT toFixedString(unhex(arrayJoin({addresses:Array(String)})), 20)) -- if addresses
        AND (topic_count > 0 AND topic0 IN (SELECT toFixedString(unhex(arrayJoin({topics0:Array(String)})), 32))) -- if topics0
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
    ORDER BY if({newest:Bool}, -toInt64(ord), toInt64(ord))
    LIMIT {limit:UInt64}
    -- end
) AS e
ORDER BY if({newest:Bool}, -toInt64(e.ord), toInt64(e.ord))
LIMIT {limit:UInt64}
