-- Each row: a swap of one pair, in no order, as of the snapshot. Reads the final swaps that list_window_hours does not
-- cover, from the projection of_pair, which has all these columns. These swaps are in three ranges of ord. The range
-- (month_start_ord, month_hours_ord] goes from the start of the month to its first whole hour. The range
-- (week_start_ord, week_hours_ord] does the same for the week. The third range begins after the last whole hour, at
-- `hours_end_ord`. Reads all head swaps of the pair.
SELECT
    ord,
    timestamp,
    leg,
    base_is_token0,
    price,
    price_usd,
    quote_price_usd,
    amount_usd,
    fee_pips,
    tracked,
    maker,
    if(base_is_token0, amount0, amount1) < 0 AS buy
FROM swaps
WHERE pair = unhex({pair:String})
    AND ord <= {final_ord:UInt64}
    AND (
        (ord > {month_start_ord:UInt64} AND ord <= {month_hours_ord:UInt64})
        OR (ord > {week_start_ord:UInt64} AND ord <= {week_hours_ord:UInt64})
        OR ord > {hours_end_ord:UInt64}
    )
LIMIT {limit:UInt32}
-- if commits
UNION ALL
SELECT
    ord,
    timestamp,
    leg,
    base_is_token0,
    price,
    price_usd,
    quote_price_usd,
    amount_usd,
    fee_pips,
    tracked,
    maker,
    if(base_is_token0, amount0, amount1) < 0 AS buy
FROM swaps_head_chain
WHERE pair = unhex({pair:String})
LIMIT {limit:UInt32}
-- end
