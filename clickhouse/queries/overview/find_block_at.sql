-- One row: the newest final block of the snapshot whose time is not above `time`; no row when there is none.
-- Key (chain_id, number), read backwards from the cursor until the first hit: never far beyond the week asked for.
SELECT
    number,
    timestamp
FROM blocks
WHERE chain_id = {chain_id:UInt32} AND number <= {final_to:UInt32} AND timestamp <= {time:UInt32}
ORDER BY chain_id DESC, number DESC
LIMIT 1
