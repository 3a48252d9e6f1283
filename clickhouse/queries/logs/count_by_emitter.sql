-- One row: a contract and the number of its final logs, by address. Read as RowBinary. Not limited to a snapshot. Reads
-- the projection by_contract, never the logs.
SELECT address, toUInt64(count()) AS logs
FROM logs
WHERE chain_id = {chain_id:UInt32}
GROUP BY chain_id, address
ORDER BY address
LIMIT {limit:UInt32}
