-- Each row: the part of one bar that follows from the swaps of one leg of a pool in (after_ord, to_ord], as of the
-- snapshot. The bar has prices of `token`, one of the two tokens of the leg, in USD or, with `native`, in the native
-- token. Reads the key ord over the whole range. With `sparse`, finds the final rows through the projection of_pair
-- instead. The caller bounds the range.
SELECT
    toUInt32(intDiv(s.timestamp, {timeframe:UInt32}) * {timeframe:UInt32}) AS bucket,
    minIf(s.ord, s.bar_price > 0) AS open_ord,
    argMinIf(s.bar_price, s.ord, s.bar_price > 0) AS open,
    maxIf(s.ord, s.bar_price > 0) AS close_ord,
    argMaxIf(s.bar_price, s.ord, s.bar_price > 0) AS close,
    max(s.bar_price) AS high,
    minIf(s.bar_price, s.bar_price > 0) AS low,
    sum(abs(s.amount)::UInt256) AS volume,
    sum(s.amount_usd) AS volume_usd,
    count() AS trades,
    countIf(NOT s.tracked) AS untracked,
    countIf(s.amount < 0) AS buys,
    max(s.ord) AS last_ord
FROM
(
    SELECT
        ord,
        timestamp,
        amount_usd,
        tracked,
        token0 = unhex({token:String}) AS is_token0,
        if(is_token0, amount0, amount1) AS amount,
        if(is_token0 = base_is_token0, price_usd, quote_price_usd) AS usd,
        if({native:Bool}, if(native_usd > 0, usd / native_usd, 0), usd) AS bar_price
    FROM swaps_chain
    WHERE ord > {after_ord:UInt64}
        AND ord <= {to_ord:UInt64}
        AND pair = unhex({pair:String})
        AND leg = {leg:UInt16}
        -- if sparse
        AND (ord > {final_ord:UInt64} OR ord IN (
            SELECT ord
            FROM swaps
            WHERE pair = unhex({pair:String}) AND ord > {after_ord:UInt64} AND ord <= {to_ord:UInt64}
        ))
        -- end
) AS s
GROUP BY bucket
ORDER BY bucket
LIMIT {limit:UInt32}
