-- Each row: the commit of one head block whose number of stored logs equals the log count of its header row. With
-- `some_logs`, the ingester keeps only some logs, and the block may have fewer.
SELECT b.commit AS commit
FROM
(
    SELECT commit, any(log_count) AS expected_logs
    FROM blocks_head
    WHERE number BETWEEN {from:UInt32} AND {to:UInt32} AND has({commits:Array(UInt64)}, commit)
    GROUP BY commit
) AS b
LEFT JOIN
(
    SELECT commit, count() AS stored_logs
    FROM logs_head
    WHERE ord >= bitShiftLeft({from:UInt64}, 20) AND has({commits:Array(UInt64)}, commit)
    GROUP BY commit
) AS l ON b.commit = l.commit
WHERE b.expected_logs = l.stored_logs OR ({some_logs:Bool} AND b.expected_logs > l.stored_logs)
LIMIT length({commits:Array(UInt64)})
