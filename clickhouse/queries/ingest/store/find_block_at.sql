-- One row: the first final block at or after a time, or null.
SELECT minOrNull(number) AS number
FROM blocks
WHERE chain_id = {chain:UInt32} AND timestamp >= {time:UInt32}
LIMIT 1
