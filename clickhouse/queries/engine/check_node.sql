-- One row. Fails where the server does not know its place among its replicas.
SELECT getMacro('shard') AS shard, getMacro('replica') AS replica
