-- Each row: a token of a listed pool whose supply, or whose balances of these holders, were not read yet. Scans the
-- table of pools, so only the background search runs it. The parameter `holders` is hex without 0x.
SELECT DISTINCT concat('0x', lower(hex(p.token))) AS token
FROM
(
    SELECT arrayJoin(if(empty(tokens), [token0, token1], tokens)) AS token FROM pools
    UNION ALL
    SELECT arrayJoin(if(empty(tokens), [token0, token1], tokens)) AS token
    FROM pools_head
    WHERE has({commits:Array(UInt64)}, commit)
) AS p
WHERE p.token NOT IN (
    SELECT s.token
    FROM token_supplies AS s FINAL
    WHERE hasAll(s.holders, arrayMap(one -> toFixedString(unhex(one), 20), {holders:Array(String)}))
)
LIMIT {limit:UInt32}
