-- Each row: one stored block of a range, as of the snapshot. Uses the key (chain_id, number). Must never scan the table
-- blocks.
SELECT chain_id, number, hash, parent_hash, timestamp, base_fee, transaction_count, log_count, gas_prices, gas_used
FROM
(
    -- both parts
    SELECT chain_id, number, hash, parent_hash, timestamp, base_fee, transaction_count, log_count, gas_prices, gas_used
    FROM blocks_chain
    WHERE chain_id = {chain:UInt32}
        AND number >= {from:UInt32}
        AND number <= {to:UInt32}
    -- end
)
ORDER BY number
LIMIT {limit:UInt32}
