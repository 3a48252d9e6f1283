-- Each row: the number of stored pools of one factory. Scans the table of pools, so only the end of a history
-- search runs this query.
SELECT
    concat('0x', lower(hex(p.factory))) AS factory,
    toUInt32(uniqExact(p.address)) AS pools
FROM pools_chain AS p
GROUP BY p.factory
LIMIT {limit:UInt32}
