-- Each row: one transfer of a token in one of the given transactions. Uses the key (token, ord) of transfers,
-- between the first and the last of the transactions' blocks. The parameter `token` is hex without 0x. A
-- transaction is given as block number · 2^20 + index in the block.
SELECT
    t.ord,
    t.tx_index,
    t.sender,
    t.recipient,
    t.amount
FROM transfers_chain AS t
WHERE t.token = toFixedString(unhex({token:String}), 20)
    AND t.ord >= {from_ord:UInt64}
    AND t.ord <= {to_ord:UInt64}
    AND has({transactions:Array(UInt64)}, bitShiftLeft(intDiv(t.ord, 1048576), 20) + t.tx_index)
ORDER BY t.ord
LIMIT {limit:UInt32}
