-- One row: the first final block that is younger than so many seconds, by the time of the newest one; null: none is stored.
SELECT minOrNull(number) AS number
FROM blocks
WHERE chain_id = {chain:UInt32}
    AND timestamp > (SELECT max(timestamp) FROM blocks WHERE chain_id = {chain:UInt32}) - {kept:Int64}
