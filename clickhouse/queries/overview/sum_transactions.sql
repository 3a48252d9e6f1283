-- One row: how many transactions the blocks above `after_block` and later than `since` hold, as of the snapshot.
-- Key (chain_id, number): one day of blocks, once per head version; the head twin is small.
SELECT toUInt32(sum(transaction_count)) AS transactions
FROM
(
    SELECT transaction_count
    FROM blocks
    WHERE chain_id = {chain_id:UInt32}
        AND number > {after_block:UInt32}
        AND number <= {final_to:UInt32}
        AND timestamp > {since:UInt32}
    UNION ALL
    SELECT transaction_count
    FROM blocks_head
    WHERE has({commits:Array(UInt64)}, commit)
        AND chain_id = {chain_id:UInt32}
        AND number > {final_to:UInt32}
        AND timestamp > {since:UInt32}
)
LIMIT 1
