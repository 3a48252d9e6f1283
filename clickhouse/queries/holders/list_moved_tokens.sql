-- Each row: one token with final transfers above `after_ord`. Reads last_ord of all balances, so this query
-- must never run for a request. The program runs it when the final tables grew by more than the known head
-- blocks, as in a backfill.
SELECT DISTINCT b.token AS token
FROM token_balances AS b
WHERE b.last_ord > {after_ord:UInt64}
LIMIT {limit:UInt32}
