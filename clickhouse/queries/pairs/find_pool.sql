-- At most one row: the pool at an address, as of the snapshot. Uses the key address. Reads all rows
-- of the head table, which is small.
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
    toUInt32(intDiv(p.ord, 1048576)) AS first_block,
    created_block,
    created_at,
    if(isNull(created_tx), NULL, concat('0x', lower(hex(created_tx)))) AS created_tx,
    toBool(p.ord <= {final_ord:UInt64}) AS is_final
FROM pools_chain AS p
WHERE p.address = unhex({pair:String})
LIMIT 1
