-- At most one row: the number and time of one final block. Uses the key (chain_id, number). Must never scan
-- the table blocks.
SELECT
    number,
    timestamp
FROM blocks
WHERE chain_id = {chain_id:UInt32} AND number = {number:UInt32}
LIMIT 1
