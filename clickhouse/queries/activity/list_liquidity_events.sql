-- Each row: a change of a pool's liquidity, in no order. Uses the key ord. With `final`, reads the rows with the ords
-- `ords` from the final table. With `head`, reads the head blocks with the commits `commits`: the rows with the ords
-- `head_ords`, or without `head_ords` all mints and burns up to `to_ord`. The parameter `both` is true if `final` and
-- `head` are.
-- if final
SELECT
    kind,
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
    owner,
    amount0,
    amount1,
    liquidity,
    tick_lower,
    tick_upper,
    amount0_usd,
    amount1_usd,
    trust,
    others_usd
FROM liquidity_events
WHERE ord <= {final_ord:UInt64}
    AND ord IN {ords:Array(UInt64)} -- if ords
LIMIT {limit:UInt32}
-- end
-- if both
UNION ALL
-- end
-- if head
SELECT
    kind,
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
    owner,
    amount0,
    amount1,
    liquidity,
    tick_lower,
    tick_upper,
    amount0_usd,
    amount1_usd,
    trust,
    others_usd
FROM liquidity_events_head_chain
WHERE kind IN ('mint', 'burn') AND ord <= {to_ord:UInt64}
    AND ord IN {head_ords:Array(UInt64)} -- if head_ords
LIMIT {limit:UInt32}
-- end
