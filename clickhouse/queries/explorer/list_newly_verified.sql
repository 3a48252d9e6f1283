-- One row: a contract that was verified in a version above `version`; RowBinary. Reads one narrow column.
SELECT address, chain_id, code_hash
FROM verified_contracts
WHERE version > {version:UInt64}
LIMIT {limit:UInt32}
