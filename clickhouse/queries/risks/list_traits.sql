-- Each row: the newest traits of one token, if the row was written at `since` (unix milliseconds) or later.
-- Reads the version of every row of token_traits (one row per measured token), once for each new head.
SELECT
    t.token,
    t.buys,
    t.buy_tax,
    t.sells,
    t.sell_tax,
    t.buyers,
    t.sellers,
    t.sale_fails,
    t.mintable,
    t.pausable,
    t.bridged,
    t.forked,
    t.kept_at_zero,
    t.version
FROM token_traits AS t FINAL
WHERE t.version >= {since:UInt64}
LIMIT {limit:UInt32}
