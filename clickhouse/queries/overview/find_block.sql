-- At most one row: the number and time of one final block. Key: (chain_id, number). Must never scan blocks.
SELECT
    number,
    timestamp
FROM blocks
WHERE chain_id = {chain_id:UInt32} AND number = {number:UInt32}
LIMIT 1
