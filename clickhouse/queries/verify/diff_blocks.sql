-- Each row: a final block of one day that is missing, duplicated, not linked to its parent, or has a number of stored
-- logs that differs from its log_count. Before `logs_from`, logs are not compared. Reads blocks by key and scans the
-- logs of the day by ord.
SELECT
    concat('block ', toString(number)) AS item,
    'blocks' AS only_in,
    toString((copies, linked, log_count, stored_logs)) AS value
FROM
(
    SELECT
        number,
        count() AS copies,
        any(log_count) AS log_count,
        any(hash) AS block_hash,
        any(parent_hash) = lagInFrame(any(hash), 1, any(parent_hash)) OVER (ORDER BY number ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)
            AND toInt64(number) = lagInFrame(toInt64(number), 1, toInt64(number) - 1) OVER (ORDER BY number ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) + 1 AS linked
    FROM blocks
    WHERE chain_id = {chain:UInt32} AND number BETWEEN {first_block:UInt32} AND {last_block:UInt32}
    GROUP BY number
) AS b
LEFT JOIN
(
    SELECT toUInt32(bitShiftRight(ord, 20)) AS number, count() AS stored_logs
    FROM logs
    WHERE chain_id = {chain:UInt32} AND ord >= {first_ord:UInt64} AND ord <= {last_ord:UInt64}
    GROUP BY number
) AS l USING (number)
WHERE copies != 1 OR NOT linked OR (number >= {logs_from:UInt32} AND log_count != stored_logs)
ORDER BY number
LIMIT 100
