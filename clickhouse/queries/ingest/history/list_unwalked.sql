-- Each row: a V3 pool that is older than the start block, and whose ticks from before the start block are not stored
-- in old_ticks yet. Scans the table of pools, so only the history search in the background runs this query.
SELECT
    concat('0x', lower(hex(p.address))) AS address,
    any(p.tick_spacing) AS tick_spacing
FROM pools_chain AS p
WHERE p.pool_type = 3
    AND isNull(p.created_block)
    AND p.address NOT IN (SELECT o.pair FROM old_ticks AS o)
GROUP BY p.address
LIMIT {limit:UInt32}
