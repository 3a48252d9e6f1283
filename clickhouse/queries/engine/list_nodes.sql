-- Each row: one server of a cluster.
SELECT shard_num AS shard, replica_num AS replica, host_name AS host, port, internal_replication AS internal
FROM system.clusters
WHERE cluster = {cluster:String}
ORDER BY shard, replica
LIMIT 1000
