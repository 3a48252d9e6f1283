-- One row: the number of parts that mutations (background rewrites of stored rows) must still process, and
-- the reason of the last failure, empty if no mutation failed.
SELECT toUInt64(sum(parts_to_do)) AS parts, argMax(latest_fail_reason, latest_fail_time) AS failure
FROM system.mutations
WHERE database = currentDatabase() AND has({tables:Array(String)}, table) AND NOT is_done
LIMIT 1
