-- Each row: the pool id by which a vault names one found pool (older than the start block, from the history
-- search).
SELECT DISTINCT f.address AS address, assumeNotNull(f.pool_id) AS pool_id
FROM found_pools AS f
WHERE isNotNull(f.pool_id)
    AND f.address IN (SELECT toFixedString(unhex(a), 20) FROM (SELECT arrayJoin({pools:Array(String)}) AS a))
LIMIT length({pools:Array(String)})
