-- Each row: the id of one vault pool, from the vault's log at the position (ord) of the pool's row.
SELECT topic1 AS pool_id
FROM logs
WHERE chain_id = {chain:UInt32}
    AND address = unhex({vault:String})
    AND has(arrayMap(topic -> unhex(topic), {topics:Array(String)}), topic0)
    AND ord IN {ords:Array(UInt64)}
LIMIT length({ords:Array(UInt64)})
