-- Each row: the columns of one stored swap that follow from its log and its transaction, as of the snapshot. Uses the
-- key ord. Must never scan the table swaps.
SELECT
    ord,
    pair,
    dex,
    tx_hash,
    tx_index,
    maker,
    leg,
    token0,
    token1,
    sender,
    recipient,
    amount0,
    amount1,
    sqrt_price_x96,
    liquidity,
    tick,
    fee_pips
FROM
(
    -- both parts
    SELECT
        ord,
        pair,
        dex,
        tx_hash,
        tx_index,
        maker,
        leg,
        token0,
        token1,
        sender,
        recipient,
        amount0,
        amount1,
        sqrt_price_x96,
        liquidity,
        tick,
        fee_pips
    FROM swaps_chain
    WHERE ord >= {from_ord:UInt64} AND ord <= {to_ord:UInt64}
    -- end
) AS s
ORDER BY ord
LIMIT {limit:UInt32}
