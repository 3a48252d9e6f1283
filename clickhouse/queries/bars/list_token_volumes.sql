-- Each row: the volumes, the numbers of trades and buys, and the newest ord of one bar of a token. Reads only the
-- given buckets by the key (token, timeframe, bucket).
-- `last` begins with the ord of the swap.
SELECT
    bucket,
    sum(b.volume) AS volume,
    sum(b.volume_usd) AS volume_usd,
    sum(b.trades) AS trades,
    sum(b.buys) AS buys,
    max(greatest(b.last.1, b.other_ord)) AS last_ord
FROM token_bars AS b
WHERE timeframe = {timeframe:UInt32}
    AND token = unhex({token:String})
    AND bucket IN {buckets:Array(UInt32)}
GROUP BY bucket
LIMIT {limit:UInt32}
