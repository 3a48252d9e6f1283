-- Each row: a token of a stored pool. The node was not asked yet for the token's supply, or for its balances
-- at the addresses `holders`. Scans the table of pools, so only the pool search in the background runs
-- this query. The parameter `holders` is hex without 0x.
SELECT DISTINCT token
FROM
(
    SELECT arrayJoin(if(empty(tokens), [token0, token1], tokens)) AS token
    FROM pools_chain
)
WHERE token NOT IN (
    SELECT s.token
    FROM token_supplies AS s FINAL
    WHERE hasAll(s.holders, arrayMap(holder_hex -> toFixedString(unhex(holder_hex), 20), {holders:Array(String)}))
)
LIMIT {limit:UInt32}
