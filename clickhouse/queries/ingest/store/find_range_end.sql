-- One row: the first block after the newest finished range that ends below a given block, or null.
SELECT toUInt32(maxOrNull(to_block) + 1) AS number
FROM promotions
WHERE chain_id = {chain:UInt32} AND status = 'done' AND kind != 'start' AND to_block < {before:UInt32}
LIMIT 1
