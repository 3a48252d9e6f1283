-- One row: the number of parts that mutations (background rewrites of stored rows) must still process, and
-- the reason of the last failure.
SELECT toUInt64(sum(parts_to_do)) AS parts, max(latest_fail_reason) AS failure
FROM system.mutations
WHERE database = currentDatabase() AND has({tables:Array(String)}, table) AND NOT is_done
LIMIT 1
