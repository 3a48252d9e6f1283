-- At most one row: the block with a number, as of the snapshot. Uses the key (chain_id, number). Reads all
-- rows of the head table, which is small.
SELECT
    concat('0x', lower(hex(b.hash))) AS hash,
    b.timestamp AS timestamp
FROM
(
    -- both parts
    SELECT hash, timestamp
    FROM blocks_chain
    WHERE chain_id = {chain_id:UInt32} AND number = {number:UInt32}
    -- end
) AS b
LIMIT 1
