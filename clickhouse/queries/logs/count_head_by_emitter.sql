-- Each row: a contract and the number of its logs in the snapshot's blocks above `final_ord`, by address. The caller
-- reads RowBinary. Reads the head table, which is small.
SELECT address, toUInt64(count()) AS logs
FROM logs_head_chain
WHERE chain_id = {chain_id:UInt32}
GROUP BY address
ORDER BY address
LIMIT {limit:UInt32}
