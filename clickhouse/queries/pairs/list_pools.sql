-- Each row: one pool as of the snapshot. With `since_ord`, only later pools are returned. Reads all pools, so
-- the program runs this query once for each new head, never for each request.
SELECT
    concat('0x', lower(hex(address))) AS address,
    dex,
    pool_type,
    concat('0x', lower(hex(factory))) AS factory,
    concat('0x', lower(hex(token0))) AS token0,
    concat('0x', lower(hex(token1))) AS token1,
    base_is_token0,
    arrayMap(t -> concat('0x', lower(hex(t))), tokens) AS all_tokens,
    arrayMap(w -> toString(w), weights) AS all_weights,
    fee_pips,
    tick_spacing,
    toUInt32(intDiv(ord, 1048576)) AS first_block,
    created_block,
    created_at,
    if(isNull(created_tx), NULL, concat('0x', lower(hex(created_tx)))) AS created_tx
FROM pools_chain
WHERE ord > {since_ord:UInt64} -- if since_ord
LIMIT {limit:UInt32}
