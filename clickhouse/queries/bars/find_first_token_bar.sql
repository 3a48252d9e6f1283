-- At most one row: the day of a token's first bar with a price, as of the snapshot (the final blocks and head
-- blocks that one read may see). Reads the key (token, timeframe, bucket) of the daily bars in order, never a
-- finer timeframe. A bar without a price stores the largest possible ord as its opening, so the comparison
-- with the snapshot excludes it.
-- `first` and `first_usd` begin with the ord of the swap.
SELECT b.bucket AS bucket
FROM token_bars AS b
WHERE b.timeframe = 86400
    AND b.token = unhex({token:String})
    AND if({usd:Bool}, least(b.first.1, b.first_usd.1), b.first.1) <= {final_ord:UInt64}
ORDER BY b.token, b.timeframe, b.bucket
LIMIT 1
