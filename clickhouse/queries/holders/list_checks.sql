-- Each row: one token that is marked as rebasing, or whose contract did not confirm some balances. The values
-- come from the token's newest check. Reads the whole table (one row per checked token), once for each new
-- head.
SELECT
    concat('0x', lower(hex(c.token))) AS token,
    argMax(c.rebasing, c.version) AS rebasing,
    argMax(c.held_checked, c.version) AS held_checked,
    argMax(c.unconfirmed, c.version) AS unconfirmed
FROM token_balance_checks AS c
GROUP BY c.token
HAVING rebasing OR unconfirmed > 0
LIMIT {limit:UInt32}
