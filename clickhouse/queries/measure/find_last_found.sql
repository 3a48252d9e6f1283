-- One row: the largest ord among the pools that are older than the start block; 0 without such a pool. Scans
-- the table of pools, so only the background worker runs this query, about once a minute.
SELECT max(p.ord) AS ord
FROM pools_chain AS p
WHERE isNull(p.created_block)
LIMIT 1
