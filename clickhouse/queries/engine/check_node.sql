-- One row: the shard and replica of this server. Fails if the server's configuration lacks the macros `shard`
-- and `replica`.
SELECT getMacro('shard') AS shard, getMacro('replica') AS replica
LIMIT 1
