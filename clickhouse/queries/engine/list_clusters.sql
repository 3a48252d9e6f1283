-- Each row: the name of a cluster in the server's configuration.
SELECT DISTINCT cluster AS name
FROM system.clusters
ORDER BY cluster
LIMIT 100
