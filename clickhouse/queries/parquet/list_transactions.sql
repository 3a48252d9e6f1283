-- One row is one transaction of the staged Parquet files. Reads the blocks of the range by the sorting key, and never a
-- whole file.
SELECT
    file,
    block_number,
    transaction_index,
    transaction_hash,
    from_address,
    to_address,
    nonce,
    gas_used,
    gas_price,
    success,
    transaction_type,
    signed_transaction
FROM transactions
WHERE has({files:Array(UInt32)}, file)
    AND block_number BETWEEN {from:UInt64} AND {to:UInt64}
ORDER BY block_number, transaction_index
LIMIT {limit:UInt64}
