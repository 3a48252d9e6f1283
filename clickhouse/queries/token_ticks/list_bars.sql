-- One row: part of one bar of a token, newest first; parts of one bucket are merged by the caller. Prices in USD (`usd`), of
-- the swaps with a price in the native token and of those without, or in the native token (`native`). Key: (token, timeframe, bucket),
-- read in order backwards. Never scans beyond the LIMIT. Columns as they are, since planning grows with every expression; read as
-- RowBinary in this order.
SELECT
    bucket,
    first,
    last,
    first_usd, -- if usd
    last_usd, -- if usd
    high_usd, -- if usd
    low_usd, -- if usd
    high_native, -- if native
    low_native, -- if native
    volume,
    volume_usd,
    trades,
    buys,
    other_ord
FROM token_bars
WHERE timeframe = {timeframe:UInt32}
    AND token = unhex({token:String})
    AND bucket >= {from:UInt32}
    AND bucket < {to:UInt32}
ORDER BY token DESC, timeframe DESC, bucket DESC
LIMIT {limit:UInt32}
