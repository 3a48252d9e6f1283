-- Each row: a token of a listed pool whose supply was not read yet. Scans the table of pools, so only the background
-- search runs it.
SELECT DISTINCT concat('0x', lower(hex(p.token))) AS token
FROM
(
    SELECT arrayJoin(if(empty(tokens), [token0, token1], tokens)) AS token FROM pools
    UNION ALL
    SELECT arrayJoin(if(empty(tokens), [token0, token1], tokens)) AS token
    FROM pools_head
    WHERE has({commits:Array(UInt64)}, commit)
) AS p
WHERE p.token NOT IN (SELECT token FROM token_supplies)
LIMIT {limit:UInt32}
