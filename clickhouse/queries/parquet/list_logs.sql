-- One row is one log of the staged Parquet files. Reads the blocks of the range by the sorting key, and never a whole
-- file.
SELECT
    file,
    block_number,
    log_index,
    transaction_index,
    transaction_hash,
    address,
    topic0,
    topic1,
    topic2,
    topic3,
    data
FROM logs
WHERE has({files:Array(UInt32)}, file)
    AND block_number BETWEEN {from:UInt64} AND {to:UInt64}
ORDER BY block_number, log_index
LIMIT {limit:UInt64}
