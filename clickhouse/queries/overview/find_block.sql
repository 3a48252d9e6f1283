-- One row: number and time of one final block; no row when it is not stored. Key (chain_id, number).
-- Must never scan blocks.
SELECT
    number,
    timestamp
FROM blocks
WHERE chain_id = {chain_id:UInt32} AND number = {number:UInt32}
LIMIT 1
