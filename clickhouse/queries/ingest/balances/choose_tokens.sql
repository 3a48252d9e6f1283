-- Each row: a token of a pool, with the block of its last sample of holders. Tokens that were never sampled come
-- first. Next come tokens that so many addresses received in the given head blocks that the number of holders may
-- have grown by half since the sample. All other tokens are sorted by the time of their sample, oldest first. `salt`
-- fixes the order of equal tokens. Reads the pools, the head table of transfers (which is small) and
-- token_balance_checks, once per check of balances, never per request.
SELECT
    p.token AS token,
    c.sampled AS sampled_block
FROM
(
    SELECT DISTINCT arrayJoin(if(empty(tokens), [token0, token1], tokens)) AS token
    FROM
    (
        SELECT token0, token1, tokens
        FROM pools
        UNION ALL
        SELECT token0, token1, tokens
        FROM pools_head
        WHERE has({commits:Array(UInt64)}, commit)
    )
) AS p
LEFT JOIN
(
    SELECT
        token,
        argMax(sampled_block, version) AS sampled,
        argMax(sampled_holders, version) AS holders
    FROM token_balance_checks
    GROUP BY token
) AS c ON c.token = p.token
LEFT JOIN
(
    SELECT token, uniqExact(recipient) AS recipients
    FROM transfers_head
    WHERE has({commits:Array(UInt64)}, commit)
    GROUP BY token
) AS m ON m.token = p.token
ORDER BY c.sampled = 0 DESC, m.recipients * 2 > c.holders DESC, c.sampled, cityHash64(p.token, {salt:UInt64})
LIMIT {limit:UInt32}
