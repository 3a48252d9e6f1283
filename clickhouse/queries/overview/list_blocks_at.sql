-- Each row: a final block, ascending, at most `limit`: first the newest one at or before `time`, then the blocks after
-- it. If all blocks are later than `time`, the rows begin with the first block. Reads the key (chain_id, number)
-- backwards from the last final block to the first match, so an older `time` takes longer to find.
WITH
    (
        SELECT max(number) -- max makes 0 of no row
        FROM
        (
            SELECT number
            FROM blocks
            WHERE chain_id = {chain_id:UInt32} AND number <= {final_to:UInt32} AND timestamp <= {time:UInt32}
            ORDER BY chain_id DESC, number DESC
            LIMIT 1
        )
    ) AS block_at
SELECT
    number,
    timestamp
FROM blocks
WHERE chain_id = {chain_id:UInt32} AND number >= assumeNotNull(block_at) AND number <= {final_to:UInt32}
ORDER BY chain_id, number
LIMIT {limit:UInt32}
