-- Each row: the trading of one pair in the 24 hours that end at `now`, (now - 24 h, now]. Uses the key ord, from the
-- last block before. Reads one day of swaps. Runs once for each new head, never for each request.
WITH
    (
        SELECT max(number) -- max makes 0 of no row
        FROM
        (
            SELECT number
            FROM blocks
            WHERE chain_id = {chain_id:UInt32} AND number <= {final_to:UInt32} AND timestamp + 86400 <= {now:UInt32}
            ORDER BY chain_id DESC, number DESC
            LIMIT 1
        )
    ) AS block_before
SELECT
    pair,
    toUInt32(countIf(is_buy)) AS buys,
    toUInt32(countIf(NOT is_buy)) AS sells,
    toUInt32(uniqExactIf(maker, is_buy)) AS buyers,
    toUInt32(uniqExactIf(maker, NOT is_buy)) AS sellers,
    toFloat64(sumIf(amount_usd, tracked)) AS volume,
    toFloat64(sumIf(fee_usd, tracked)) AS fees,
    toFloat64(sum(untracked_usd)) AS untracked
FROM
(
    SELECT pair, maker, amount_usd, untracked_usd, fee_usd, tracked, if(base_is_token0, amount0, amount1) < 0 AS is_buy
    FROM swaps_chain(fee_usd)
    WHERE ord > assumeNotNull(block_before) * 1048576 + 1048575 AND timestamp + 86400 > {now:UInt32}
)
GROUP BY pair
LIMIT {limit:UInt32}
