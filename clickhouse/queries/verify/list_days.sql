-- Each row: a UTC day of the final blocks `from` to `to`, with its first and last block. Reads blocks by
-- key.
SELECT
    intDiv(timestamp, 86400) * 86400 AS day,
    min(number) AS first_block,
    max(number) AS last_block
FROM blocks
WHERE chain_id = {chain:UInt32}
    AND number <= {final_to:UInt32}
    AND intDiv(timestamp, 86400) IN (
        SELECT intDiv(timestamp, 86400)
        FROM blocks
        WHERE chain_id = {chain:UInt32} AND number BETWEEN {from:UInt32} AND {to:UInt32}
    )
GROUP BY day
ORDER BY day
LIMIT 100000
