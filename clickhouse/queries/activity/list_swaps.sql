-- Each row: a swap from `first_ord` to `last_ord`, in no order. Uses the key ord, or with `pair` (hex without 0x)
-- the projection of_pair. With `ords`, returns only the rows with these ords; ClickHouse needs less time without them.
-- The columns are named at the table, because ClickHouse takes longer to plan a subquery with all columns of a table.
-- both parts
SELECT
    ord,
    timestamp,
    pair,
    dex,
    pool_type,
    token0,
    token1,
    base_is_token0,
    tx_hash,
    maker,
    sender,
    recipient,
    amount0,
    amount1,
    reserve0,
    reserve1,
    sqrt_price_x96,
    liquidity,
    tick,
    price,
    price_usd,
    quote_price_usd,
    amount_usd,
    fee_pips,
    tracked
FROM swaps_chain
WHERE ord >= {first_ord:UInt64} AND ord <= {last_ord:UInt64}
    AND pair = unhex({pair:String}) -- if pair
    AND ord IN {ords:Array(UInt64)} -- if ords
LIMIT {limit:UInt32}
-- end
