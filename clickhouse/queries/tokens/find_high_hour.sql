-- One row: the hour in which one token was worth most, the first of equals, with the ords of its first and last swap with a price;
-- key (token, timeframe, bucket). Of the hours below `to`, which lie below the final cursor. Read as RowBinary in this order of columns.
SELECT
    max(high_usd) AS high,
    least(min(first).1, min(first_usd).1) AS first_ord,
    greatest(max(last).1, max(last_usd).1) AS last_ord
FROM token_bars
WHERE timeframe = 3600 AND token = unhex({token:String}) AND bucket < {to:UInt32}
GROUP BY bucket
ORDER BY high DESC, bucket
LIMIT 1
