-- One row: the first final block at or after a time; null: there is none.
SELECT minOrNull(number) AS number
FROM blocks
WHERE chain_id = {chain:UInt32} AND timestamp >= {time:UInt32}
