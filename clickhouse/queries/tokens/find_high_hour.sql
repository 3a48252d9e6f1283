-- At most one row: the hour with the highest trusted USD price of one token, with the ords of its first and
-- last priced swap. If several hours have this price, the earliest one. Uses the key (token, timeframe,
-- bucket). The hours below `to` must end before the last final block.
-- `first`, `last` and their USD counterparts begin with the ord of the swap. Only the ords are read.
SELECT
    max(high_trusted_usd) AS high,
    least(min(first.1), min(first_usd.1)) AS first_ord,
    greatest(max(last.1), max(last_usd.1)) AS last_ord
FROM token_bars
WHERE timeframe = 3600 AND token = unhex({token:String}) AND bucket < {to:UInt32}
GROUP BY bucket
ORDER BY high DESC, bucket
LIMIT 1
