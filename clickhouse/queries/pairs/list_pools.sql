-- Each row: one pool as of the snapshot. With `since_ord`, only later pools are returned. Reads all pools, so
-- the program runs this query once for each new head, never for each request.
SELECT
    address,
    dex,
    protocol,
    pool_type,
    factory,
    token0,
    token1,
    base_is_token0,
    tokens AS all_tokens,
    weights AS all_weights,
    fee_pips,
    tick_spacing,
    pool_id,
    hooks,
    hook_bits,
    toUInt32(intDiv(ord, 1048576)) AS first_block,
    created_block,
    created_at,
    created_tx
FROM pools_chain
WHERE ord > {since_ord:UInt64} -- if since_ord
LIMIT {limit:UInt32}
