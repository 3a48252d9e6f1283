-- Each row: a contract and the number of its logs in the snapshot's blocks above `final_ord`, by address. The caller
-- reads RowBinary. Reads the head table, which is small.
SELECT address, toUInt64(count()) AS logs
FROM logs_head
WHERE chain_id = {chain_id:UInt32} AND ord > {final_ord:UInt64} AND has({commits:Array(UInt64)}, commit)
GROUP BY address
ORDER BY address
LIMIT {limit:UInt32}
