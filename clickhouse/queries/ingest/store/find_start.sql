-- At most one row: the first ingested block of the chain.
SELECT from_block
FROM promotions
WHERE chain_id = {chain:UInt32} AND seq = 0
LIMIT 1
