-- One row: a contract and how many logs it emitted, as of whatever the final table holds; RowBinary, by address. Reads the rows of
-- all contracts in the projection by_contract.
SELECT address, toUInt64(count()) AS logs
FROM logs
WHERE chain_id = {chain_id:UInt32}
GROUP BY chain_id, address
ORDER BY address
LIMIT {limit:UInt32}
