-- Each row: one SetFeeProtocol log of a V3 pool above `since_ord`, as of the snapshot. Finds the ords in the projection
-- by_topic, then the logs by ord through by_ord. Never scans other topics. Reads all rows of the head table, which is
-- small.
SELECT
    address AS pair,
    ord,
    topic0,
    data
FROM
(
    SELECT address, ord, topic0, data
    FROM logs
    WHERE chain_id = {chain_id:UInt32}
        AND ord > {since_ord:UInt64}
        AND ord <= {final_ord:UInt64}
        AND address IN (SELECT address FROM pools WHERE pool_type = 3 AND ord <= {final_ord:UInt64})
        AND topic_count = 1
        AND length(data) = 128
        AND ord IN
        (
            SELECT ord
            FROM logs
            WHERE chain_id = {chain_id:UInt32}
                AND topic0 IN (unhex('973d8d92bb299f4af6ce49b52a8adb85ae46b9f214c4c4fc06ac77401237b133'), unhex('b3159fed3ddfba67bae294599eafe2d0ec98c08bb38e0e5fb87d33154b6e05aa'))
                AND ord > {since_ord:UInt64}
                AND ord <= {final_ord:UInt64}
            ORDER BY ord
            LIMIT {limit:UInt32}
        )
    -- if commits
    UNION ALL
    SELECT address, ord, topic0, data
    FROM logs_head_chain
    WHERE chain_id = {chain_id:UInt32}
        AND topic0 IN (unhex('973d8d92bb299f4af6ce49b52a8adb85ae46b9f214c4c4fc06ac77401237b133'), unhex('b3159fed3ddfba67bae294599eafe2d0ec98c08bb38e0e5fb87d33154b6e05aa'))
        AND topic_count = 1
        AND length(data) = 128
    -- end
)
ORDER BY ord
LIMIT {limit:UInt32}
