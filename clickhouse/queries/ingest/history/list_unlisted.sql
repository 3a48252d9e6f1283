-- Each row: a found pool that is not stored as a pool, because a reorg removed the block that added it. Scans
-- the table of pools, so the program runs this query only at the start of the ingester and after such a
-- reorg.
SELECT
    any(dex) AS dex,
    concat('0x', lower(hex(f.address))) AS address,
    concat('0x', lower(hex(any(f.factory)))) AS factory,
    concat('0x', lower(hex(any(f.token0)))) AS token0,
    concat('0x', lower(hex(any(f.token1)))) AS token1,
    any(fee_pips) AS fee_pips,
    any(tick_spacing) AS tick_spacing,
    if(isNull(any(f.pool_id)), NULL, concat('0x', lower(hex(assumeNotNull(any(f.pool_id)))))) AS pool_id
FROM found_pools AS f
WHERE f.address NOT IN (
    SELECT address
    FROM pools_chain
)
GROUP BY f.address
LIMIT {limit:UInt32}
