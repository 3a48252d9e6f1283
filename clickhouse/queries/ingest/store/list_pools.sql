-- Each row: one pool from the final blocks.
SELECT
    ord,
    concat('0x', lower(hex(p.address))) AS address,
    dex,
    protocol,
    pool_type,
    concat('0x', lower(hex(p.factory))) AS factory,
    concat('0x', lower(hex(p.token0))) AS token0,
    concat('0x', lower(hex(p.token1))) AS token1,
    base_is_token0,
    arrayMap(t -> concat('0x', lower(hex(t))), p.tokens) AS tokens,
    weights,
    doubts,
    fee_pips,
    tick_spacing,
    created_block,
    created_at,
    if(isNull(p.created_tx), NULL, concat('0x', lower(hex(p.created_tx)))) AS created_tx
FROM pools AS p
WHERE ord <= {final_ord:UInt64}
LIMIT {limit:UInt32}
