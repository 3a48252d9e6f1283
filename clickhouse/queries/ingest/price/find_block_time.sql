-- At most one row: the time of a block.
SELECT timestamp
FROM blocks
WHERE chain_id = {chain:UInt32} AND number = {number:UInt32}
LIMIT 1
