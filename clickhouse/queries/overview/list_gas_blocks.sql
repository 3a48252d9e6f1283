-- Each row: the number of transactions, base fee and gas prices (wei) of one block above `after_block`, as of the
-- snapshot, oldest first. Uses the key (chain_id, number). The caller limits the result to twenty blocks. Must never
-- scan the table blocks.
SELECT
    g.number AS number,
    g.transaction_count AS transaction_count,
    g.base_fee AS base_fee,
    g.gas_prices AS gas_prices
FROM
(
    -- both parts
    SELECT number, transaction_count, base_fee, gas_prices
    FROM blocks_chain
    WHERE chain_id = {chain_id:UInt32} AND number > {after_block:UInt32}
    -- end
) AS g
ORDER BY g.number
LIMIT {limit:UInt32}
