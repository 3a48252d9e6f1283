-- Each row: part of one bar of a pair with raw prices, newest first. The caller merges the parts of a bucket. `first`
-- and `last` describe swaps with a USD price, `first_quote` and `last_quote` swaps without a USD price. Uses the key
-- (pair, leg, timeframe, bucket), read backwards. Never scans beyond the LIMIT. The query computes nothing in its
-- columns: planning costs more than reading and grows with every expression.
SELECT
    bucket,
    first,
    last,
    first_quote,
    last_quote,
    high,
    low,
    volume0,
    volume1,
    volume_usd,
    trades,
    untracked,
    buys,
    other_ord
FROM bars
WHERE timeframe = {timeframe:UInt32}
    AND pair = unhex({pair:String})
    AND leg = {leg:UInt16}
    AND bucket >= {from:UInt32}
    AND bucket < {to:UInt32}
ORDER BY bucket DESC
LIMIT {limit:UInt32}
