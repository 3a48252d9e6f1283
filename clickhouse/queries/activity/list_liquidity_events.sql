-- Each row: a mint or burn from `first_ord` to `last_ord`, in no order. Uses the key ord. With `ords`, returns only the
-- rows with these ords.
-- both parts
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
FROM liquidity_events_chain
WHERE ord >= {first_ord:UInt64} AND ord <= {last_ord:UInt64}
    AND kind IN ('mint', 'burn')
    AND ord IN {ords:Array(UInt64)} -- if ords
LIMIT {limit:UInt32}
-- end
