-- One row: one swap of the given commits after `after_ord`, in order. `pair`: hex without 0x; empty for any. Read as
-- RowBinary in this column order. Key: ord of swaps_head, which holds minutes of chain. Never reads the final tables.
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
