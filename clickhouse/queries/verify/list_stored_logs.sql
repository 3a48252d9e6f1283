-- Each row: one stored log of a range of blocks, as of the snapshot. Uses the key (chain_id, ord) of the projection
-- by_ord. Must never scan the table logs.
SELECT ord, timestamp, address, topic_count, topic0, topic1, topic2, topic3, data, tx_hash, tx_index
FROM
(
    -- both parts
    SELECT ord, timestamp, address, topic_count, topic0, topic1, topic2, topic3, data, tx_hash, tx_index
    FROM logs_chain
    WHERE chain_id = {chain:UInt32} AND ord >= {from_ord:UInt64} AND ord <= {to_ord:UInt64}
    -- end
) AS l
ORDER BY ord
LIMIT {limit:UInt32}
