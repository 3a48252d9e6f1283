-- One row: the name of a cluster that the server knows.
SELECT DISTINCT cluster AS name
FROM system.clusters
ORDER BY cluster
LIMIT 100
