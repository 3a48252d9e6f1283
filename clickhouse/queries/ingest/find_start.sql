-- At most one row: the first block that the chain was begun with.
SELECT from_block
FROM promotions
WHERE chain_id = {chain:UInt32} AND seq = 0
LIMIT 1
