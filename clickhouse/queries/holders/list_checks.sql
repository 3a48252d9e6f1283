-- Each row: the newest result of comparing balances of one token with its contract, if the row was written at `since`
-- (unix milliseconds) or later. Reads the version of every row of token_balance_checks (one row per checked token),
-- once for each new head.
SELECT
    c.token AS token,
    c.rebasing AS rebasing,
    c.held_checked AS held_checked,
    c.unconfirmed AS unconfirmed,
    c.sampled_holders AS sampled_holders,
    c.witness != toFixedString('', 20) AS doubted,
    c.version AS version
FROM token_balance_checks AS c FINAL
WHERE c.version >= {since:UInt64}
    AND c.token = unhex({token:String}) -- if token
LIMIT {limit:UInt32}
