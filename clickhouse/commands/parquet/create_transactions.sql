-- Rows of Parquet files with transactions, as the files have them: one row per transaction. A null key is stored as
-- 2^64 - 1.
CREATE TABLE transactions
(
    file               UInt32 COMMENT 'Number of the file',
    block_number       UInt64 COMMENT 'Block number',
    transaction_index  UInt64 COMMENT 'Position of the transaction in its block',
    transaction_hash   Nullable(String) COMMENT 'Hash of the transaction, 32 bytes',
    from_address       Nullable(String) COMMENT 'Sender, 20 bytes',
    to_address         Nullable(String) COMMENT 'Receiver, 20 bytes; null if the transaction creates a contract',
    nonce              Nullable(UInt64) COMMENT 'Number of the transaction among those of its sender',
    gas_used           Nullable(UInt64) COMMENT 'Gas used by the transaction alone',
    gas_price          Nullable(UInt64) COMMENT 'Effective gas price, raw wei',
    success            Nullable(Bool) COMMENT 'Whether the transaction succeeded; null before Byzantium',
    transaction_type   Nullable(UInt64) COMMENT 'Type of the receipt (EIP-2718); null if the file does not have it',
    signed_transaction Nullable(String) COMMENT 'Signed transaction as its hash covers it; null if the file does not have it',
    chain_id           Nullable(UInt64) COMMENT 'Chain of the transaction'
)
ENGINE = MergeTree
PARTITION BY file
ORDER BY (block_number, transaction_index)
SETTINGS index_granularity = 1024
