-- One row: part of one bar of a token, newest first; parts of one bucket are merged by the caller. Prices in USD (`usd`), or
-- in the native token (`native`). Key: (token, timeframe, bucket), read in order backwards. Never scans beyond the LIMIT.
SELECT
    b.bucket AS bucket,
    toString(b.open_usd.1) AS open_ord, -- if usd
    toString(b.open_native.1) AS open_ord, -- if native
    b.open_usd.2 AS open, -- if usd
    b.open_native.2 AS open, -- if native
    toString(b.close_usd.1) AS close_ord, -- if usd
    toString(b.close_native.1) AS close_ord, -- if native
    b.close_usd.2 AS close, -- if usd
    b.close_native.2 AS close, -- if native
    b.high_usd AS high, -- if usd
    b.high_native AS high, -- if native
    if(isFinite(b.low_usd), b.low_usd, 0) AS low, -- if usd
    if(isFinite(b.low_native), b.low_native, 0) AS low, -- if native
    toString(b.volume) AS volume,
    toString(b.volume_usd) AS volume_usd,
    toUInt32(b.trades) AS trades,
    toUInt32(b.buys) AS buys,
    toString(b.last_ord) AS last_ord
FROM token_bars AS b
WHERE b.timeframe = {timeframe:UInt32}
    AND b.token = unhex({token:String})
    AND b.bucket >= {from:UInt32}
    AND b.bucket < {to:UInt32}
ORDER BY b.token DESC, b.timeframe DESC, b.bucket DESC
LIMIT {limit:UInt32}
