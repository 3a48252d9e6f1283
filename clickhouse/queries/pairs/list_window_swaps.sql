-- Each row: a swap of one pair, in no order, as of the snapshot. Reads the final swaps that list_window_hours does not
-- cover, from the projection of_pair, which has all these columns. These swaps are in three ranges of ord. (month_ord,
-- month_edge] goes from the start of the month to its first whole hour. (week_ord, week_edge] does the same for the
-- week. The third range begins after the last whole hour, at `tail_ord`. Reads all head swaps of the pair.
SELECT
    ord,
    timestamp,
    leg,
    base_is_token0,
    price,
    price_usd,
    quote_price_usd,
    amount_usd,
    fee_usd,
    tracked
FROM swaps
WHERE pair = unhex({pair:String})
    AND ord <= {final_ord:UInt64}
    AND (
        (ord > {month_ord:UInt64} AND ord <= {month_edge:UInt64})
        OR (ord > {week_ord:UInt64} AND ord <= {week_edge:UInt64})
        OR ord > {tail_ord:UInt64}
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
    fee_usd,
    tracked
FROM swaps_head_chain
WHERE pair = unhex({pair:String})
LIMIT {limit:UInt32}
-- end
