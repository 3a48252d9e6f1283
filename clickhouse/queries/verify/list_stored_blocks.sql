-- Each row: one stored block of a range, as of the snapshot. Uses the key (chain_id, number). Must never scan the table
-- blocks.
SELECT chain_id, number, hash, parent_hash, timestamp, base_fee, transaction_count, log_count, gas_prices, gas_used
FROM
(
    SELECT chain_id, number, hash, parent_hash, timestamp, base_fee, transaction_count, log_count, gas_prices, gas_used
    FROM blocks
    WHERE chain_id = {chain:UInt32}
        AND number >= {from:UInt32}
        AND number <= {to:UInt32}
        AND number <= {final_to:UInt32}
    UNION ALL
    SELECT chain_id, number, hash, parent_hash, timestamp, base_fee, transaction_count, log_count, gas_prices, gas_used
    FROM blocks_head
    WHERE has({commits:Array(UInt64)}, commit)
        AND chain_id = {chain:UInt32}
        AND number >= {from:UInt32}
        AND number <= {to:UInt32}
)
ORDER BY number
LIMIT {limit:UInt32}
