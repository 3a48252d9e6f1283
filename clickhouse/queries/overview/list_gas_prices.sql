-- Each row: the base fee and gas prices (wei) of one block above `after_block`, as of the snapshot. Uses the
-- key (chain_id, number). The caller chooses `after_block` so that the query returns twenty blocks. Must
-- never scan the table blocks.
SELECT
    transaction_count,
    if(isNull(fee), NULL, toString(fee)) AS base_fee,
    arrayMap(price -> toString(price), prices) AS gas_prices
FROM
(
    -- both parts
    SELECT transaction_count, base_fee AS fee, gas_prices AS prices
    FROM blocks_chain
    WHERE chain_id = {chain_id:UInt32} AND number > {after_block:UInt32}
    -- end
)
LIMIT {limit:UInt32}
