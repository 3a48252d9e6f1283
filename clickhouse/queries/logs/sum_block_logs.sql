-- One row: the number of logs in the blocks from_block to to_block. Uses the key (chain_id, number) of
-- blocks. Reads only the small column log_count.
SELECT sum(b.log_count) AS logs
FROM
(
    -- both parts
    SELECT log_count
    FROM blocks_chain
    WHERE chain_id = {chain_id:UInt32} AND number BETWEEN {from_block:UInt32} AND {to_block:UInt32}
    -- end
) AS b
LIMIT 1
