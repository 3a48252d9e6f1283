-- Each row: a swap, in no order. Uses the key ord. With `final`, reads the rows with the ords `ords` from the final
-- table. With `last_ord`, reads instead the rows of `pair` from `first_ord` to `last_ord`, which takes ClickHouse less
-- time than a list. With `head`, reads the head blocks with the commits `commits`: the rows with the ords `head_ords`,
-- or without `head_ords` all rows up to `to_ord`. The parameter `both` is true if `final` and `head` are. The columns
-- stand twice, because ClickHouse needs longer to plan a subquery with all columns of the table.
-- if final
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
FROM swaps
WHERE ord <= {final_ord:UInt64}
    AND pair = unhex({pair:String}) -- if pair
    AND ord IN {ords:Array(UInt64)} -- if ords
    AND ord >= {first_ord:UInt64} AND ord <= {last_ord:UInt64} -- if last_ord
LIMIT {limit:UInt32}
-- end
-- if both
UNION ALL
-- end
-- if head
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
FROM swaps_head_chain
WHERE ord <= {to_ord:UInt64}
    AND ord IN {head_ords:Array(UInt64)} -- if head_ords
LIMIT {limit:UInt32}
-- end
