-- At most one row: the day of a pair's first bar with a price. Reads the key (pair, leg, timeframe, bucket) of the
-- daily bars in order, never a finer timeframe.
SELECT bucket
FROM bars
WHERE timeframe = 86400
    AND pair = unhex({pair:String})
    AND leg = {leg:UInt16}
    AND if({usd:Bool}, high_usd, high) > 0
ORDER BY pair, leg, timeframe, bucket
LIMIT 1
