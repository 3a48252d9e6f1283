-- At most one row: when the block was made.
SELECT timestamp
FROM blocks
WHERE chain_id = {chain:UInt32} AND number = {number:UInt32}
