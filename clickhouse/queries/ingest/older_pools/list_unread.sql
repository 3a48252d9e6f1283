-- Each row: a pool with ticks or bins that is older than the start block, and whose ticks or bins from before the start
-- block are not stored in old_ticks yet. Scans the table of pools, so only the pool search in the background runs this
-- query. The caller throws if the answer reaches the limit.
SELECT
    address,
    any(protocol) AS protocol,
    any(factory) AS factory,
    any(pool_id) AS pool_id,
    any(tick_spacing) AS tick_spacing,
    pool_type
FROM pools_chain
WHERE pool_type IN (3, 7)
    AND isNull(created_block)
    AND address NOT IN (SELECT pair FROM old_ticks)
GROUP BY address, pool_type
LIMIT {limit:UInt32}
