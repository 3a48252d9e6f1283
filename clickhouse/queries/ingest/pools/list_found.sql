-- Each row: one found pool (older than the start block, from the history search) that a block above the given
-- number adds. Reads the key (block, block_hash, address).
SELECT
    f.block AS block,
    concat('0x', lower(hex(f.block_hash))) AS block_hash,
    concat('0x', lower(hex(f.address))) AS address,
    dex,
    protocol,
    pool_type,
    concat('0x', lower(hex(f.factory))) AS factory,
    concat('0x', lower(hex(f.token0))) AS token0,
    concat('0x', lower(hex(f.token1))) AS token1,
    base_is_token0,
    arrayMap(t -> concat('0x', lower(hex(t))), f.tokens) AS tokens,
    weights,
    doubts,
    fee_pips,
    tick_spacing,
    if(isNull(f.pool_id), NULL, concat('0x', lower(hex(assumeNotNull(f.pool_id))))) AS pool_id,
    moved_at,
    reserve0,
    reserve1,
    sqrt_price_x96,
    liquidity,
    tick,
    balances
FROM found_pools AS f
WHERE f.block > {above:UInt32}
LIMIT {limit:UInt32}
