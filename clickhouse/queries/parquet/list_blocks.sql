-- One row is one block of the staged Parquet files. Reads the blocks of the range by the sorting key, and never a whole
-- file.
SELECT
    file,
    block_number,
    block_hash,
    parent_hash,
    timestamp,
    base_fee_per_gas,
    gas_used,
    logs_bloom,
    header
FROM blocks
WHERE has({files:Array(UInt32)}, file)
    AND block_number BETWEEN {from:UInt64} AND {to:UInt64}
ORDER BY block_number
LIMIT {limit:UInt64}
