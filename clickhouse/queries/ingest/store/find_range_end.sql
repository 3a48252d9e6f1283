-- One row: the block after the last finished range that ends below a block, or null.
SELECT toUInt32(maxOrNull(to_block) + 1) AS number
FROM promotions
WHERE chain_id = {chain:UInt32} AND status = 'done' AND kind != 'start' AND to_block < {before:UInt32}
LIMIT 1
