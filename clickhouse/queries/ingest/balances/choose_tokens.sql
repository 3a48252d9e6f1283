-- Each row: a token of a pool. Tokens come first if the fewest of their holders' balances were compared with
-- the contract so far. `salt` fixes the order of tokens with equal numbers of comparisons. Reads the final
-- pools and token_balance_checks, once per check of balances, never per request.
SELECT concat('0x', lower(hex(p.token))) AS token
FROM
(
    SELECT DISTINCT arrayJoin(if(empty(tokens), [token0, token1], tokens)) AS token
    FROM pools
) AS p
LEFT JOIN
(
    SELECT token, argMax(held_checked, version) AS held
    FROM token_balance_checks
    GROUP BY token
) AS c ON c.token = p.token
ORDER BY c.held, cityHash64(p.token, {salt:UInt64})
LIMIT {limit:UInt32}
