-- One row: a verified contract: address, then its chain as 4 bytes, the highest first; RowBinary, ascending as bytes.
SELECT DISTINCT toFixedString(concat(address, reverse(reinterpretAsFixedString(chain_id))), 24) AS key
FROM verified_contracts
ORDER BY key
LIMIT {limit:UInt32}
