-- Each row: one server of a cluster: its position in the cluster's configuration, from 1, and its HTTP or
-- HTTPS port. Omits servers that do not answer.
SELECT _shard_num AS shard_index, getServerPort({kind:String}) AS port
FROM clusterAllReplicas({cluster:Identifier}, system.one)
LIMIT 1000
SETTINGS skip_unavailable_shards = 1
