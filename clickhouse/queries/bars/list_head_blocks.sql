-- Each row: part of one bar, made of the tracked swaps of a token in one canonical head block, in the order
-- of blocks. A block becomes final as a whole, so a stored bar contains all or none of the swaps of a block.
-- If bars do not use the price of a swap (price_counts), its price is 0 here. Uses the key ord of swaps_head,
-- which holds the newest minutes of the chain. Never reads the final tables.
SELECT
    toUInt32(any(intDiv(s.timestamp, {timeframe:UInt32}) * {timeframe:UInt32})) AS bucket,
    minIf(s.ord, s.bar_price > 0) AS open_ord,
    argMinIf(s.bar_price, s.ord, s.bar_price > 0) AS open,
    maxIf(s.ord, s.bar_price > 0) AS close_ord,
    argMaxIf(s.bar_price, s.ord, s.bar_price > 0) AS close,
    max(s.bar_price) AS high,
    minIf(s.bar_price, s.bar_price > 0) AS low,
    sum(abs(s.amount)::UInt256) AS volume,
    sum(s.amount_usd) AS volume_usd,
    count() AS trades,
    toUInt64(0) AS untracked,
    countIf(s.amount < 0) AS buys,
    max(s.ord) AS last_ord
FROM
(
    SELECT
        ord,
        timestamp,
        amount_usd,
        token0 = unhex({token:String}) AS is_token0,
        if(is_token0, amount0, amount1) AS amount,
        if(is_token0 = base_is_token0, price_usd, quote_price_usd) * bitTest(price_counts, if(is_token0, 0, 1)) AS usd,
        if({usd:Bool}, usd, if(native_usd > 0, usd / native_usd, 0)) AS bar_price
    FROM swaps_head_chain
    WHERE tracked
        AND (token0 = unhex({token:String}) OR token1 = unhex({token:String}))
) AS s
GROUP BY intDiv(s.ord, 1048576)
ORDER BY max(s.ord)
LIMIT {limit:UInt32}
