-- Each row: one found pool (older than the start block, from the pool search) that a block above the given number adds.
-- Reads the key (block, block_hash, address). The caller throws if the answer reaches the limit.
SELECT
    block,
    block_hash,
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
    moved_at,
    reserve0,
    reserve1,
    sqrt_price_x96,
    liquidity,
    tick,
    balances,
    params
FROM found_pools
WHERE block > {above:UInt32}
LIMIT {limit:UInt32}
