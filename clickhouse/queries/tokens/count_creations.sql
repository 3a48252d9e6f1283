-- Each row: the number of stored answers of the node about creations of contracts. It grows with every new answer.
-- ClickHouse answers from metadata.
SELECT toString(count()) AS stored
FROM contract_creations
LIMIT 1
