-- One row: the position of the newest row of a pool that is older than the start block; 0 without such a pool. Scans the
-- table of pools, so only the background worker runs it, about once a minute.
SELECT toString(max(p.ord)) AS ord
FROM pools_chain AS p
WHERE isNull(p.created_block)
LIMIT 1
