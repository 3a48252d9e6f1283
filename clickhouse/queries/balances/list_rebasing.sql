-- One row: one token whose logs do not tell its balances. Reads the whole table, one row per token that was ever checked:
-- once per head version.
SELECT DISTINCT concat('0x', lower(hex(c.token))) AS token
FROM token_balance_checks AS c
WHERE c.rebasing
LIMIT {limit:UInt32}
