-- One row: USD volume of one token's tracked swaps in (since, now], as of the snapshot. The caller names the whole hours
-- [from, to) that lie in the window and below the final cursor: they come from token_bars, key (timeframe, token). What is
-- left at both ends comes from swaps by ord: from `after_ord`, the last block at `since`, and `to_ord`, the last block
-- before `to`. Must never scan more than those ends.
WITH
    (
        SELECT max(last_ord)
        FROM token_bars
        WHERE timeframe = 3600 AND token = unhex({token:String}) AND bucket = {from:UInt32} - 3600
    ) AS first_end
SELECT toFloat64(sum(w.volume)) AS volume_usd
FROM
(
    SELECT volume_usd AS volume
    FROM token_bars
    WHERE timeframe = 3600 AND token = unhex({token:String}) AND bucket >= {from:UInt32} AND bucket < {to:UInt32}
    UNION ALL
    SELECT amount_usd AS volume
    FROM swaps
    WHERE ((ord > {after_ord:UInt64} AND ord <= first_end) OR ord > {to_ord:UInt64})
        AND ord <= {final_ord:UInt64}
        AND timestamp > {since:UInt32}
        AND (timestamp < {from:UInt32} OR timestamp >= {to:UInt32})
        AND tracked
        AND (token0 = unhex({token:String}) OR token1 = unhex({token:String}))
    -- if commits
    UNION ALL
    SELECT amount_usd AS volume
    FROM swaps_head
    WHERE has({commits:Array(UInt64)}, commit)
        AND ord > {final_ord:UInt64}
        AND timestamp > {since:UInt32}
        AND tracked
        AND (token0 = unhex({token:String}) OR token1 = unhex({token:String}))
    -- end
) AS w
LIMIT 1
