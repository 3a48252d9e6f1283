-- Each row: one pool from the final blocks. The caller throws if the answer reaches the limit.
SELECT
    ord,
    address,
    dex,
    protocol,
    pool_type,
    factory,
    token0,
    token1,
    base_is_token0,
    tokens,
    weights,
    doubts,
    fee_pips,
    tick_spacing,
    scale_decimals,
    pool_id,
    hooks,
    hook_bits,
    created_block,
    created_at,
    created_tx
FROM pools
WHERE ord <= {final_ord:UInt64}
LIMIT {limit:UInt32}
