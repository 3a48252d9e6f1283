-- Each row: the gas price (wei) and the gas used of one of the given transactions, as of the snapshot; null if no
-- receipts were fetched. The parameters `numbers` and `indexes` name each transaction by its block and its index there.
-- Uses the key (chain_id, number).
SELECT
    b.number AS number,
    tx AS tx_index,
    if(length(b.prices) = b.transactions, b.prices[tx + 1], NULL) AS gas_price,
    if(length(b.used) = b.transactions, b.used[tx + 1], NULL) AS gas_used
FROM
(
    -- both parts
    SELECT number, transaction_count AS transactions, gas_prices AS prices, gas_used AS used
    FROM blocks_chain
    WHERE chain_id = {chain_id:UInt32} AND number IN (SELECT arrayJoin({numbers:Array(UInt32)}))
    -- end
) AS b
ARRAY JOIN arrayFilter((tx, block) -> block = b.number, {indexes:Array(UInt32)}, {numbers:Array(UInt32)}) AS tx
WHERE tx < b.transactions
LIMIT {limit:UInt32}
