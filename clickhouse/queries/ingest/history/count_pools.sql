-- Each row: the number of stored pools of one factory. Scans the table of pools, so only the end of a history
-- search runs this query.
SELECT
    factory,
    uniqExact(address) AS pools
FROM
(
    SELECT factory, address FROM pools
    UNION ALL
    SELECT factory, address FROM pools_head WHERE has({commits:Array(UInt64)}, commit)
)
GROUP BY factory
LIMIT {limit:UInt32}
