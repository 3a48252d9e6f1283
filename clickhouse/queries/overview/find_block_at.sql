-- At most one row: the newest final block at or before `time`. Reads the key (chain_id, number) backwards from the
-- last final block to the first match, so an older `time` takes longer to find.
SELECT
    number,
    timestamp
FROM blocks
WHERE chain_id = {chain_id:UInt32} AND number <= {final_to:UInt32} AND timestamp <= {time:UInt32}
ORDER BY chain_id DESC, number DESC
LIMIT 1
