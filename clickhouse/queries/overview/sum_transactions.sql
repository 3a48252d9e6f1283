-- One row: the number of transactions in blocks above `after_block` and later than `since`, as of the
-- snapshot. Uses the key (chain_id, number). Reads one day of blocks, once for each new head. Reads all rows
-- of the head table, which is small.
SELECT toUInt32(sum(transaction_count)) AS transactions
FROM
(
    -- both parts
    SELECT transaction_count
    FROM blocks_chain
    WHERE chain_id = {chain_id:UInt32} AND number > {after_block:UInt32} AND timestamp > {since:UInt32}
    -- end
)
LIMIT 1
