-- One row: one swap of a pair in a canonical block above the final tables, in order. Key: ord of swaps_head, which
-- holds minutes of chain. Never touches the final tables.
SELECT
    toString(ord) AS ord,
    timestamp,
    toString(abs(amount0)) AS volume0,
    toString(abs(amount1)) AS volume1,
    if({usd:Bool}, price_usd, price) AS price,
    toString(amount_usd) AS volume_usd,
    tracked,
    if(base_is_token0, amount0, amount1) < 0 AS buy
FROM swaps_head
WHERE has({commits:Array(UInt64)}, commit)
    AND swaps_head.ord > {final_ord:UInt64}
    AND pair = unhex({pair:String})
    AND leg = {leg:UInt16}
ORDER BY swaps_head.ord
LIMIT {limit:UInt32}
