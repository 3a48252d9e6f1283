-- At most one row: the block with a number, as of the snapshot. Uses the key (chain_id, number). Reads all
-- rows of the head table, which is small.
SELECT b.hash
FROM
(
    -- both parts
    SELECT hash
    FROM blocks_chain
    WHERE chain_id = {chain_id:UInt32} AND number = {number:UInt32}
    -- end
) AS b
LIMIT 1
