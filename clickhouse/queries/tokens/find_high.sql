-- One row: the tracked swap after which one token was worth most, ever, as of the snapshot, and the first of equals; no
-- row when none has a price. Whole hours below `to`, which lie below the final cursor, come from token_bars, key
-- (timeframe, token): only the swaps of the highest one are read, by ord. The rest are swaps after `to_ord`, the last block
-- before `to`. Must never scan more than those.
WITH
    (
        SELECT argMin((high, bucket), (-high, bucket))
        FROM
        (
            SELECT bucket, max(high_usd) AS high
            FROM token_bars
            WHERE timeframe = 3600 AND token = unhex({token:String}) AND bucket < {to:UInt32}
            GROUP BY bucket
        )
    ) AS highest,
    (
        SELECT (min(open_usd).1, max(close_usd).1)
        FROM token_bars
        WHERE timeframe = 3600 AND token = unhex({token:String}) AND bucket = highest.2
    ) AS span
SELECT
    if((token0 = unhex({token:String})) = base_is_token0, price_usd, quote_price_usd) AS usd,
    timestamp
FROM
(
    SELECT ord, timestamp, token0, base_is_token0, price_usd, quote_price_usd
    FROM swaps
    WHERE ((ord >= span.1 AND ord <= span.2) OR ord > {to_ord:UInt64})
        AND ord <= {final_ord:UInt64}
        AND tracked
        AND (token0 = unhex({token:String}) OR token1 = unhex({token:String}))
    -- if commits
    UNION ALL
    SELECT ord, timestamp, token0, base_is_token0, price_usd, quote_price_usd
    FROM swaps_head
    WHERE has({commits:Array(UInt64)}, commit)
        AND ord > {final_ord:UInt64}
        AND tracked
        AND (token0 = unhex({token:String}) OR token1 = unhex({token:String}))
    -- end
) AS s
WHERE usd > 0
ORDER BY usd DESC, s.ord ASC
LIMIT 1
