-- Each row: the trading of one token over all its pools in the windows that end at `now`, each (now - window, now]. A
-- buy is a swap that lowers the pool's balance of the token. `high_h24` and `low_h24` are prices in USD per whole
-- token. They use the swaps that `price_counts` marks for highs and lows; 0 means that no swap is marked. Uses the key
-- ord, from the first block of the day (`after_ord`). Reads one day of swaps. Runs once for each new head, never for
-- each request.
WITH
    timestamp + 300 > {now:UInt32} AS in_m5,
    timestamp + 3600 > {now:UInt32} AS in_h1,
    timestamp + 21600 > {now:UInt32} AS in_h6
SELECT
    concat('0x', lower(hex(token))) AS token,
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
    toUInt32(uniqExact(maker)) AS traders_h24,
    toFloat64(sumIf(amount_usd, tracked AND in_m5)) AS volume_m5,
    toFloat64(sumIf(amount_usd, tracked AND in_h1)) AS volume_h1,
    toFloat64(sumIf(amount_usd, tracked AND in_h6)) AS volume_h6,
    toFloat64(sumIf(amount_usd, tracked)) AS volume_h24,
    maxIf(usd, tracked) AS high_h24,
    minIf(usd, tracked AND usd > 0) AS low_h24
FROM
(
    SELECT
        arrayJoin([
            (token0, amount0 < 0, if(base_is_token0, price_usd, quote_price_usd) * bitTest(price_counts, 2)),
            (token1, amount1 < 0, if(base_is_token0, quote_price_usd, price_usd) * bitTest(price_counts, 3))
        ]) AS side,
        side.1 AS token,
        side.2 AS buy,
        side.3 AS usd,
        timestamp,
        maker,
        amount_usd,
        tracked
    FROM swaps_chain
    WHERE ord > {after_ord:UInt64} AND timestamp + 86400 > {now:UInt32}
)
GROUP BY token
LIMIT {limit:UInt32}
