-- One row: the number of stored answers of the node about creations of contracts. Each new answer raises it,
-- so callers know when to read again. ClickHouse answers from metadata.
SELECT count() AS stored
FROM contract_creations
LIMIT 1
