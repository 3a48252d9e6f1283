-- Each row: the columns of one stored swap that follow from its log and its transaction, as of the snapshot. Wide
-- integers are texts. Uses the key ord. Must never scan the table swaps.
SELECT
    toString(ord) AS ord,
    concat('0x', lower(hex(s.pair))) AS pair,
    dex,
    concat('0x', lower(hex(s.tx_hash))) AS tx_hash,
    tx_index,
    if(isNull(s.maker), NULL, concat('0x', lower(hex(assumeNotNull(s.maker))))) AS maker,
    concat('0x', lower(hex(s.sender))) AS sender,
    concat('0x', lower(hex(s.recipient))) AS recipient,
    toString(s.amount0) AS amount0,
    toString(s.amount1) AS amount1,
    toString(s.sqrt_price_x96) AS sqrt_price_x96,
    toString(s.liquidity) AS liquidity,
    tick
FROM
(
    -- both parts
    SELECT ord, pair, dex, tx_hash, tx_index, maker, sender, recipient, amount0, amount1, sqrt_price_x96, liquidity, tick
    FROM swaps_chain
    WHERE ord >= {from_ord:UInt64} AND ord <= {to_ord:UInt64}
    -- end
) AS s
ORDER BY ord
LIMIT {limit:UInt32}
