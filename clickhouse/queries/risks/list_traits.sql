-- Each row: the newest traits of one token, if the row was written at `since` (unix milliseconds) or later.
-- Reads the version of every row of token_traits (one row per measured token), once for each new head.
SELECT
    concat('0x', lower(hex(t.token))) AS token,
    t.buys AS buys,
    t.buy_tax AS buy_tax,
    t.sells AS sells,
    t.sell_tax AS sell_tax,
    t.buyers AS buyers,
    t.sellers AS sellers,
    t.sale_fails AS sale_fails,
    t.mintable AS mintable,
    t.pausable AS pausable,
    t.bridged AS bridged,
    t.forked AS forked,
    toString(t.kept_at_zero) AS kept_at_zero,
    toString(t.version) AS version
FROM token_traits AS t FINAL
WHERE t.version >= {since:UInt64}
LIMIT {limit:UInt32}
