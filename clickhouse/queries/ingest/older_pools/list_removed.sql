-- Each row: a found pool that is not stored as a pool, because a reorg removed the block that added it. Scans
-- the table of pools, so the program runs this query only at the start of the ingester and after such a
-- reorg.
SELECT
    any(dex) AS dex,
    address,
    any(factory) AS factory,
    any(token0) AS token0,
    any(token1) AS token1,
    any(fee_pips) AS fee_pips,
    any(tick_spacing) AS tick_spacing,
    any(pool_id) AS pool_id
FROM found_pools
WHERE address NOT IN (
    SELECT address
    FROM pools_chain
)
GROUP BY address
LIMIT {limit:UInt32}
