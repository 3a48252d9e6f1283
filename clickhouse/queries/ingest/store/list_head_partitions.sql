-- Each row: one partition of one head table on this server. The caller throws if the answer reaches the limit.
SELECT DISTINCT table, partition_id AS partition
FROM system.parts
WHERE active AND database = currentDatabase() AND (endsWith(table, {head_suffix:String}) OR table = {head_blocks:String})
LIMIT {limit:UInt32}
