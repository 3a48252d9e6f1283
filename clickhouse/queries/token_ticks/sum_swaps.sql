-- One row: a token's tracked swaps in [from, to) up to the final cursor, as a bar that opens at `from`; no row when there
-- are none. For the moment in which `token_bars` holds swaps that the snapshot does not. Key: ord, from the first block at
-- `from` on (`after_ord`); the caller asks for a minute at most.
SELECT
    {from:UInt32} AS bucket,
    toString(minIf(s.ord, s.p > 0)) AS open_ord,
    argMinIf(s.p, s.ord, s.p > 0) AS open,
    toString(maxIf(s.ord, s.p > 0)) AS close_ord,
    argMaxIf(s.p, s.ord, s.p > 0) AS close,
    max(s.p) AS high,
    minIf(s.p, s.p > 0) AS low,
    toString(sum(abs(s.amount)::UInt256)) AS volume,
    toString(sum(s.amount_usd)) AS volume_usd,
    toUInt32(count()) AS trades,
    toUInt32(countIf(s.amount < 0)) AS buys,
    toString(max(s.ord)) AS last_ord
FROM
(
    SELECT
        ord,
        amount_usd,
        token0 = unhex({token:String}) AS is_token0,
        if(is_token0, amount0, amount1) AS amount,
        if(is_token0 = base_is_token0, price_usd, quote_price_usd) AS usd,
        if({usd:Bool}, usd, if(native_usd > 0, usd / native_usd, 0)) AS p
    FROM swaps
    WHERE ord > {after_ord:UInt64}
        AND ord <= {final_ord:UInt64}
        AND timestamp >= {from:UInt32}
        AND timestamp < {to:UInt32}
        AND tracked
        AND (token0 = unhex({token:String}) OR token1 = unhex({token:String}))
) AS s
HAVING count() > 0
LIMIT 1
