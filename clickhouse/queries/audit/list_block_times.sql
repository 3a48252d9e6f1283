-- Each row: the number and time of one of the given final blocks. Uses the key (chain_id, number). Must never
-- scan the table blocks.
SELECT
    number,
    timestamp
FROM blocks
WHERE chain_id = {chain_id:UInt32} AND number IN {numbers:Array(UInt32)}
ORDER BY number
LIMIT 1 BY number
LIMIT 2
