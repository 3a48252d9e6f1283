-- At most one row: the pool at an address, as of the snapshot. Uses the key address. Reads all rows
-- of the head table, which is small.
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
    created_tx,
    toBool(ord <= {final_ord:UInt64}) AS is_final
FROM pools_chain
WHERE address = unhex({pair:String})
LIMIT 1
