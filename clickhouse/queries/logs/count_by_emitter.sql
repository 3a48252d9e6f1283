-- Each row: a contract and the number of its final logs, by address. The caller reads RowBinary. The count includes
-- final logs that a snapshot may not show yet. Reads the projection by_contract, never the logs.
SELECT address, toUInt64(count()) AS logs
FROM logs
WHERE chain_id = {chain_id:UInt32}
GROUP BY chain_id, address
ORDER BY address
LIMIT {limit:UInt32}
