-- Each row: one swap after `after_ord` in the head blocks with the given commits, in order. The parameter `pair` is
-- hex without 0x; an empty value accepts swaps of any pair. Uses the key ord of swaps_head, which holds only the
-- newest minutes of the chain. Never reads the final tables.
SELECT
    commit,
    ord,
    timestamp,
    pair,
    leg,
    abs(amount0)::UInt256 AS volume0,
    abs(amount1)::UInt256 AS volume1,
    price,
    price_usd,
    amount_usd,
    tracked,
    if(base_is_token0, amount0, amount1) < 0 AS buy
FROM swaps_head
WHERE has({commits:Array(UInt64)}, commit)
    AND ord > {after_ord:UInt64}
    AND ({pair:String} = '' OR pair = unhex({pair:String}))
ORDER BY ord
LIMIT {limit:UInt32}
