-- One row: one token that moved in final blocks above `after_ord`. Reads last_ord of all balances: when the head has run
-- away from the one before by more than its own blocks, as in a backfill, never per request.
SELECT DISTINCT concat('0x', lower(hex(b.token))) AS token
FROM token_balances AS b
WHERE b.last_ord > {after_ord:UInt64}
LIMIT {limit:UInt32}
