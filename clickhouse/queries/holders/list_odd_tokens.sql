-- Each row: one token whose Transfer logs do not tell all changes of its balances, if its row was written at `since`
-- (unix milliseconds) or later. Reads the version of every row of odd_tokens: once at the start of the ingester, and
-- once for each new head by the API. The ingester throws if the answer reaches
-- the limit.
SELECT
    o.token AS token,
    o.kind AS kind,
    o.version AS version
FROM odd_tokens AS o FINAL
WHERE o.version >= {since:UInt64}
    AND o.token = unhex({token:String}) -- if token
LIMIT {limit:UInt32}
