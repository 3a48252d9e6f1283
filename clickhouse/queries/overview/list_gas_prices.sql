-- Each row: the base fee and gas prices (wei) of one block above `after_block`, as of the snapshot. Uses the
-- key (chain_id, number). The caller chooses `after_block` so that the query returns twenty blocks. Must
-- never scan the table blocks.
SELECT
    transaction_count,
    if(isNull(base_fee), NULL, toString(base_fee)) AS base_fee,
    arrayMap(price -> toString(price), gas_prices) AS gas_prices
FROM
(
    SELECT transaction_count, b.base_fee AS base_fee, b.gas_prices AS gas_prices
    FROM blocks AS b
    WHERE chain_id = {chain_id:UInt32} AND number > {after_block:UInt32} AND number <= {final_to:UInt32}
    UNION ALL
    SELECT transaction_count, h.base_fee AS base_fee, h.gas_prices AS gas_prices
    FROM blocks_head AS h
    WHERE has({commits:Array(UInt64)}, commit)
        AND chain_id = {chain_id:UInt32}
        AND number > {after_block:UInt32}
        AND number > {final_to:UInt32}
)
LIMIT {limit:UInt32}
