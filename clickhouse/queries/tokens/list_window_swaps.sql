-- Each row: a tracked swap of one token, in no order, as of the snapshot. Reads by ord the final swaps that
-- list_window_hours does not cover: from the start of the week to its first whole hour, in (week_start_ord,
-- week_hours_ord], and after its last whole hour (`hours_end_ord`). Reads the swaps of the hour with the highest price,
-- in [high_from, high_to], and all head swaps. The price is 0 if highs and lows do not use the swap.
SELECT
    ord,
    timestamp,
    amount_usd,
    if((token0 = unhex({token:String})) = base_is_token0, price_usd, quote_price_usd)
        * bitTest(price_counts, if(token0 = unhex({token:String}), 2, 3)) AS usd
FROM swaps
WHERE ((ord > {week_start_ord:UInt64} AND ord <= {week_hours_ord:UInt64}) OR (ord >= {high_from:UInt64} AND ord <= {high_to:UInt64}) OR ord > {hours_end_ord:UInt64})
    AND ord <= {final_ord:UInt64}
    AND tracked
    AND (token0 = unhex({token:String}) OR token1 = unhex({token:String}))
LIMIT {limit:UInt32}
-- if commits
UNION ALL
SELECT
    ord,
    timestamp,
    amount_usd,
    if((token0 = unhex({token:String})) = base_is_token0, price_usd, quote_price_usd)
        * bitTest(price_counts, if(token0 = unhex({token:String}), 2, 3)) AS usd
FROM swaps_head_chain
WHERE tracked
    AND (token0 = unhex({token:String}) OR token1 = unhex({token:String}))
LIMIT {limit:UInt32}
-- end
