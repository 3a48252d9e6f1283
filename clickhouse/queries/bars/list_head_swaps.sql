-- Each row: one swap after `after_ord` in the head blocks with the given commits, in order. The parameter
-- `pair` is hex without 0x; an empty value accepts swaps of any pair. The caller reads RowBinary, so the
-- order of columns is fixed. Uses the key ord of swaps_head, which holds only the newest minutes of the
-- chain. Never reads the final tables.
SELECT
    commit,
    swaps_head.ord,
    timestamp,
    pair,
    leg,
    abs(amount0)::UInt256,
    abs(amount1)::UInt256,
    price,
    price_usd,
    amount_usd,
    tracked,
    if(base_is_token0, amount0, amount1) < 0
FROM swaps_head
WHERE has({commits:Array(UInt64)}, commit)
    AND swaps_head.ord > {after_ord:UInt64}
    AND ({pair:String} = '' OR pair = unhex({pair:String}))
ORDER BY swaps_head.ord
LIMIT {limit:UInt32}
