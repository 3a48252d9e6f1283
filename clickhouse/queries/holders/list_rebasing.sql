-- Each row: one token that is marked as rebasing: its balances change without transfer logs. Reads the whole
-- table token_balance_checks, which has one row per checked token, once for each new head.
SELECT DISTINCT concat('0x', lower(hex(c.token))) AS token
FROM token_balance_checks AS c
WHERE c.rebasing
LIMIT {limit:UInt32}
