-- Each row: the number of stored pools of one factory. Scans the table of pools, so only the end of a history
-- search runs this query.
SELECT
    factory,
    uniqExact(address) AS pools
FROM pools_chain
GROUP BY factory
LIMIT {limit:UInt32}
