-- One row: a contract, how many logs it emitted, and the ords of the first and the last, as of whatever the final table holds;
-- RowBinary, by address. Reads what by_contract has of every contract.
SELECT address, toUInt64(count()) AS logs, min(ord) AS first_ord, max(ord) AS last_ord
FROM logs
WHERE chain_id = {chain_id:UInt32}
GROUP BY chain_id, address
ORDER BY address
LIMIT {limit:UInt32}
