-- Each row: the volumes, the numbers of trades and buys, and the newest ord of one bar of a token. Reads only the
-- given buckets by the key (token, timeframe, bucket). The caller reads RowBinary, so the order of columns is fixed.
SELECT
    bucket,
    sum(b.volume),
    sum(b.volume_usd),
    sum(b.trades),
    sum(b.buys),
    max(greatest(b.last.1, b.other_ord))
FROM token_bars AS b
WHERE timeframe = {timeframe:UInt32}
    AND token = unhex({token:String})
    AND bucket IN {buckets:Array(UInt32)}
GROUP BY bucket
LIMIT {limit:UInt32}
