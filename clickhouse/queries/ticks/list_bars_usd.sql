-- One row: part of one bar of a pair with its prices in USD, newest first; parts of one bucket are merged by the caller.
-- Key: (pair, leg, timeframe, bucket), read in order backwards. Never scans beyond the LIMIT. Two thirds of the time goes
-- into planning, which grows with every expression: so columns as they are, read as RowBinary in this order.
SELECT
    bucket,
    first,
    last,
    high_usd,
    low_usd,
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
