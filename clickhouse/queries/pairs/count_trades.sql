-- Each row: the trading of one pair in the windows that end at `now`, each (now - window, now]. Uses the key ord, from
-- the last block before the longest window. Reads one day of swaps. Runs once for each new head, never for each
-- request.
WITH
    (
        SELECT max(number)
        FROM
        (
            SELECT number
            FROM blocks
            WHERE chain_id = {chain_id:UInt32} AND number <= {final_to:UInt32} AND timestamp + 86400 <= {now:UInt32}
            ORDER BY chain_id DESC, number DESC
            LIMIT 1
        )
    ) AS block_before,
    timestamp + 300 > {now:UInt32} AS in_m5,
    timestamp + 3600 > {now:UInt32} AS in_h1,
    timestamp + 21600 > {now:UInt32} AS in_h6
SELECT
    concat('0x', lower(hex(pair))) AS pair,
    toUInt32(countIf(buy AND in_m5)) AS buys_m5,
    toUInt32(countIf(buy AND in_h1)) AS buys_h1,
    toUInt32(countIf(buy AND in_h6)) AS buys_h6,
    toUInt32(countIf(buy)) AS buys_h24,
    toUInt32(countIf(NOT buy AND in_m5)) AS sells_m5,
    toUInt32(countIf(NOT buy AND in_h1)) AS sells_h1,
    toUInt32(countIf(NOT buy AND in_h6)) AS sells_h6,
    toUInt32(countIf(NOT buy)) AS sells_h24,
    toUInt32(uniqExactIf(maker, buy AND in_m5)) AS buyers_m5,
    toUInt32(uniqExactIf(maker, buy AND in_h1)) AS buyers_h1,
    toUInt32(uniqExactIf(maker, buy AND in_h6)) AS buyers_h6,
    toUInt32(uniqExactIf(maker, buy)) AS buyers_h24,
    toUInt32(uniqExactIf(maker, NOT buy AND in_m5)) AS sellers_m5,
    toUInt32(uniqExactIf(maker, NOT buy AND in_h1)) AS sellers_h1,
    toUInt32(uniqExactIf(maker, NOT buy AND in_h6)) AS sellers_h6,
    toUInt32(uniqExactIf(maker, NOT buy)) AS sellers_h24,
    toFloat64(sumIf(amount_usd, tracked AND in_m5)) AS volume_m5,
    toFloat64(sumIf(amount_usd, tracked AND in_h1)) AS volume_h1,
    toFloat64(sumIf(amount_usd, tracked AND in_h6)) AS volume_h6,
    toFloat64(sumIf(amount_usd, tracked)) AS volume_h24,
    toFloat64(sumIf(fee_usd, tracked)) AS fees_h24,
    toFloat64(sum(untracked_usd)) AS untracked_h24
FROM
(
    SELECT pair, timestamp, maker, amount_usd, untracked_usd, fee_usd, tracked, if(base_is_token0, amount0, amount1) < 0 AS buy
    FROM swaps_chain(fee_usd)
    WHERE ord > assumeNotNull(block_before) * 1048576 + 1048575 AND timestamp + 86400 > {now:UInt32}
)
GROUP BY pair
LIMIT {limit:UInt32}
