-- One row: USD volume and fees of one pair's tracked swaps in (since, now], as of the snapshot. The caller names the whole
-- hours [from, to) that lie in the window and below the final cursor: they come from bars, key (timeframe, pair). What is
-- left at both ends comes from swaps, through the projection by_pair between the bars' last ords. Must never scan swaps.
WITH
    (
        SELECT
            (
                maxIf(last_ord, bucket < {from:UInt32} - 3600),
                maxIf(last_ord, bucket = {from:UInt32} - 3600),
                maxIf(last_ord, bucket < {to:UInt32})
            )
        FROM bars
        WHERE timeframe = 3600 AND pair = unhex({pair:String})
    ) AS ends
SELECT
    toFloat64(sum(w.volume)) AS volume_usd,
    toFloat64(sum(w.fee)) AS fees_usd
FROM
(
    SELECT volume_usd AS volume, fee_usd AS fee
    FROM bars
    WHERE timeframe = 3600 AND pair = unhex({pair:String}) AND bucket >= {from:UInt32} AND bucket < {to:UInt32}
    UNION ALL
    SELECT amount_usd AS volume, fee_usd AS fee
    FROM swaps
    WHERE ord IN (
        SELECT ord
        FROM swaps
        WHERE pair = unhex({pair:String})
            AND ord <= {final_ord:UInt64}
            AND ((ord > ends.1 AND ord <= ends.2) OR ord > ends.3)
    )
        AND timestamp > {since:UInt32}
        AND (timestamp < {from:UInt32} OR timestamp >= {to:UInt32})
        AND tracked
    -- if commits
    UNION ALL
    SELECT amount_usd AS volume, fee_usd AS fee
    FROM swaps_head
    WHERE has({commits:Array(UInt64)}, commit)
        AND ord > {final_ord:UInt64}
        AND pair = unhex({pair:String})
        AND timestamp > {since:UInt32}
        AND tracked
    -- end
) AS w
LIMIT 1
