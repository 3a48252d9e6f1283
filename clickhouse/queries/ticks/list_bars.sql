-- One row: part of one bar of a pair, newest first; parts of one bucket are merged by the caller.
-- Key: (timeframe, pair, leg, bucket), read in order backwards. Never scans beyond the LIMIT.
SELECT
    bucket,
    toString(if({usd:Bool}, b.open_usd.1, b.open.1)) AS open_ord,
    if({usd:Bool}, b.open_usd.2, b.open.2) AS open,
    toString(if({usd:Bool}, b.close_usd.1, b.close.1)) AS close_ord,
    if({usd:Bool}, b.close_usd.2, b.close.2) AS close,
    if({usd:Bool}, b.high_usd, b.high) AS high,
    if(isFinite(if({usd:Bool}, b.low_usd, b.low)), if({usd:Bool}, b.low_usd, b.low), 0) AS low,
    toString(b.volume0) AS volume0,
    toString(b.volume1) AS volume1,
    toString(b.volume_usd) AS volume_usd,
    toUInt32(b.trades) AS trades,
    toUInt32(b.untracked) AS untracked,
    toUInt32(b.buys) AS buys,
    toString(b.last_ord) AS last_ord
FROM bars AS b
WHERE b.timeframe = {timeframe:UInt32}
    AND b.pair = unhex({pair:String})
    AND b.leg = {leg:UInt16}
    AND b.bucket >= {from:UInt32}
    AND b.bucket < {to:UInt32}
ORDER BY b.timeframe DESC, b.pair DESC, b.leg DESC, b.bucket DESC
LIMIT {limit:UInt32}
