-- One row: parts that are still to be rewritten, and why the last attempt failed.
SELECT sum(parts_to_do) AS parts, max(latest_fail_reason) AS failure
FROM system.mutations
WHERE database = currentDatabase() AND has({tables:Array(String)}, table) AND NOT is_done
