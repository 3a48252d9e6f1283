-- Each row: one transfer of a token in one of the transactions that are asked for this token, in the order of the logs.
-- A transaction is given as block number · 2^20 + index in the block, with the token at the same position of `tokens`,
-- hex without 0x. Reads the key (token, ord) of transfers at the blocks of the transactions.
WITH requested AS
(
    SELECT
        toFixedString(unhex(item.1), 20) AS token,
        item.2 AS transaction_position
    FROM (SELECT arrayJoin(arrayZip({tokens:Array(String)}, {transactions:Array(UInt64)})) AS item)
)
SELECT
    t.token,
    t.ord,
    t.tx_index,
    t.sender,
    t.recipient,
    t.amount
FROM transfers_chain AS t
WHERE (t.token, intDiv(t.ord, 1048576)) IN (SELECT token, intDiv(transaction_position, 1048576) FROM requested)
    AND (t.token, bitShiftLeft(intDiv(t.ord, 1048576), 20) + t.tx_index) IN (SELECT token, transaction_position FROM requested)
ORDER BY t.token, t.ord
LIMIT {limit:UInt32} BY t.token
LIMIT {limit:UInt32} * length({tokens:Array(String)})
