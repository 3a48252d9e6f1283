-- Each row: one swap in (after_ord, to_ord] of the snapshot's chain. Uses the key ord. Must never scan beyond
-- the range.
SELECT
    toString(e.ord) AS ord,
    timestamp,
    concat('0x', lower(hex(e.pair))) AS pair,
    leg,
    pool_type,
    concat('0x', lower(hex(e.token0))) AS token0,
    concat('0x', lower(hex(e.token1))) AS token1,
    concat('0x', lower(hex(e.tx_hash))) AS tx_hash,
    tx_index,
    concat('0x', lower(hex(ifNull(e.maker, e.recipient)))) AS maker,
    toString(e.amount0) AS amount0,
    toString(e.amount1) AS amount1,
    toString(e.reserve0) AS reserve0,
    toString(e.reserve1) AS reserve1,
    toString(e.sqrt_price_x96) AS sqrt_price_x96,
    price AS raw_price
FROM swaps_chain AS e
WHERE e.ord > {after_ord:UInt64} AND e.ord <= {to_ord:UInt64}
ORDER BY e.ord
LIMIT {limit:UInt32}
