-- Each row: one stored block of a range, as of the snapshot. Wide integers are texts. Uses the key (chain_id, number).
-- Must never scan the table blocks.
SELECT
    number,
    concat('0x', lower(hex(s.hash))) AS hash,
    concat('0x', lower(hex(s.parent_hash))) AS parent_hash,
    timestamp,
    if(isNull(s.base_fee), NULL, toString(s.base_fee)) AS base_fee,
    transaction_count,
    log_count,
    arrayMap(price -> toString(price), s.gas_prices) AS gas_prices,
    arrayMap(gas -> toString(gas), s.gas_used) AS gas_used
FROM
(
    -- both parts
    SELECT number, hash, parent_hash, timestamp, base_fee, transaction_count, log_count, gas_prices, gas_used
    FROM blocks_chain
    WHERE chain_id = {chain:UInt32}
        AND number >= {from:UInt32}
        AND number <= {to:UInt32}
    -- end
) AS s
ORDER BY number
LIMIT {limit:UInt32}
