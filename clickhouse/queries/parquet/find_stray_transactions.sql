-- One row is a row of a staged Parquet file of transactions with a wrong chain, or with a block outside the file's
-- range. Reads two columns of the file.
SELECT block_number, chain_id
FROM transactions
WHERE file = {file:UInt32}
    AND (block_number < {from:UInt64} OR block_number > {to:UInt64} OR ifNull(chain_id, 0) != {chain:UInt64})
ORDER BY block_number
LIMIT 1
