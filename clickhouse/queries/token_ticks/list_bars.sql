-- One row: part of one bar of a token, newest first; parts of one bucket are merged by the caller. Prices in USD, or in
-- the native token. Key: (timeframe, token, bucket), read in order backwards. Never scans beyond the LIMIT.
SELECT
    b.bucket AS bucket,
    toString(if({usd:Bool}, b.open_usd.1, b.open_native.1)) AS open_ord,
    if({usd:Bool}, b.open_usd.2, b.open_native.2) AS open,
    toString(if({usd:Bool}, b.close_usd.1, b.close_native.1)) AS close_ord,
    if({usd:Bool}, b.close_usd.2, b.close_native.2) AS close,
    if({usd:Bool}, b.high_usd, b.high_native) AS high,
    if(isFinite(if({usd:Bool}, b.low_usd, b.low_native)), if({usd:Bool}, b.low_usd, b.low_native), 0) AS low,
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
ORDER BY b.timeframe DESC, b.token DESC, b.bucket DESC
LIMIT {limit:UInt32}
