-- One row: the day of a token's first bar with a price; no row when there is none. Key: (token, timeframe, bucket) of the daily
-- bars, in order. Never reads a finer timeframe.
SELECT bucket
FROM token_bars
WHERE timeframe = 86400
    AND token = unhex({token:String})
    AND if({usd:Bool}, high_usd, high_native) > 0
ORDER BY token, timeframe, bucket
LIMIT 1
