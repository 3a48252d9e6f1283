-- Each row: one swap in (after_ord, to_ord] of the snapshot's chain. Uses the key ord. Must never scan beyond
-- the range.
SELECT
    e.ord AS ord,
    timestamp,
    pair,
    leg,
    pool_type,
    e.token0 AS token0,
    e.token1 AS token1,
    e.tx_hash AS tx_hash,
    tx_index,
    ifNull(e.maker, e.recipient) AS maker,
    e.amount0 AS amount0,
    e.amount1 AS amount1,
    e.reserve0 AS reserve0,
    e.reserve1 AS reserve1,
    e.sqrt_price_x96 AS sqrt_price_x96,
    price AS raw_price
FROM swaps_chain AS e
WHERE e.ord > {after_ord:UInt64} AND e.ord <= {to_ord:UInt64}
ORDER BY e.ord
LIMIT {limit:UInt32}
