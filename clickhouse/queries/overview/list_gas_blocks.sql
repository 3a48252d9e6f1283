-- Each row: the base fee and gas prices (wei) of one block above `after_block`, as of the snapshot, oldest first. Uses
-- the key (chain_id, number). The caller limits the result to twenty blocks. Must never scan the table blocks.
SELECT
    g.number AS number,
    if(isNull(g.fee), NULL, toString(g.fee)) AS base_fee,
    arrayMap(price -> toString(price), g.prices) AS gas_prices
FROM
(
    -- both parts
    SELECT number, base_fee AS fee, gas_prices AS prices
    FROM blocks_chain
    WHERE chain_id = {chain_id:UInt32} AND number > {after_block:UInt32}
    -- end
) AS g
ORDER BY g.number
LIMIT {limit:UInt32}
