-- Each row: one token that is marked as rebasing: its balances change without transfer logs. The mark comes
-- from the token's newest check. Reads the whole table token_balance_checks, which has one row per checked
-- token, once for each new head.
SELECT c.token AS token
FROM token_balance_checks AS c
GROUP BY c.token
HAVING argMax(c.rebasing, c.version)
LIMIT {limit:UInt32}
