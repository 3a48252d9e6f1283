-- One row: the shard and replica of this server. Fails if the server has no macros for them.
SELECT getMacro('shard') AS shard, getMacro('replica') AS replica
LIMIT 1
