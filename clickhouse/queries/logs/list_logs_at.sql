-- Each row: the log at one of the positions `ords`. Uses the key ord in the projection by_ord, or the table's key with
-- `addresses`. Reads only `ords`, all within [from_ord, to_ord]. The parameter `addresses` is hex without 0x; an empty
-- value means any. `kept` holds the first `data_max` bytes of the data, so that the engine never sends more.
SELECT *
FROM
(
    -- both parts
    SELECT ord, timestamp, address, topic_count, topic0, topic1, topic2, topic3,
        substring(data, 1, {data_max:UInt64}) AS kept, length(data) AS data_bytes, tx_hash, tx_index
    FROM logs_chain
    WHERE chain_id = {chain_id:UInt32}
        AND ord >= {from_ord:UInt64}
        AND ord <= {to_ord:UInt64}
        AND ord IN {ords:Array(UInt64)}
        AND address IN (SELECT toFixedString(unhex(arrayJoin({addresses:Array(String)})), 20)) -- if addresses
    -- end
) AS e
LIMIT {limit:UInt64}
