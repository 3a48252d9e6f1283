-- One row: the first final block less than `kept` seconds older than the newest block, or null if there are
-- no blocks.
SELECT minOrNull(number) AS number
FROM blocks
WHERE chain_id = {chain:UInt32}
    AND timestamp > (SELECT max(timestamp) FROM blocks WHERE chain_id = {chain:UInt32}) - {kept:Int64}
LIMIT 1
