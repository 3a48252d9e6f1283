-- At most one row: the newest final block at or before `time`. Reads the key (chain_id, number) backwards from the
-- cursor to the first hit, so an older `time` costs a longer read.
SELECT
    number,
    timestamp
FROM blocks
WHERE chain_id = {chain_id:UInt32} AND number <= {final_to:UInt32} AND timestamp <= {time:UInt32}
ORDER BY chain_id DESC, number DESC
LIMIT 1
