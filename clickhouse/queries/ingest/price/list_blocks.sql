-- Each row: one final block of a range, ascending.
SELECT number, timestamp
FROM blocks
WHERE chain_id = {chain:UInt32} AND number BETWEEN {from:UInt32} AND {to:UInt32}
ORDER BY number
LIMIT {to:UInt32} - {from:UInt32} + 1
