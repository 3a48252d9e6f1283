-- Each row: the trading of one token over all its pools in the 24 hours that end at `now`, (now - 24 h, now]. A buy is
-- a swap that lowers the pool's balance of the token. `high` and `low` are prices in USD per whole token. They use the
-- swaps that `price_counts` marks for highs and lows; 0 means that no swap is marked. Uses the key ord, from the first
-- block of the day (`after_ord`). Reads one day of swaps. Runs once for each new head, never for each request.
SELECT
    token,
    toUInt32(countIf(is_buy)) AS buys,
    toUInt32(countIf(NOT is_buy)) AS sells,
    toUInt32(uniqExactIf(maker, is_buy)) AS buyers,
    toUInt32(uniqExactIf(maker, NOT is_buy)) AS sellers,
    toUInt32(uniqExact(maker)) AS traders,
    toFloat64(sumIf(amount_usd, tracked)) AS volume,
    maxIf(usd, tracked) AS high,
    minIf(usd, tracked AND usd > 0) AS low
FROM
(
    SELECT
        arrayJoin([
            (token0, amount0 < 0, if(base_is_token0, price_usd, quote_price_usd) * bitTest(price_counts, 2)),
            (token1, amount1 < 0, if(base_is_token0, quote_price_usd, price_usd) * bitTest(price_counts, 3))
        ]) AS side,
        side.1 AS token,
        side.2 AS is_buy,
        side.3 AS usd,
        maker,
        amount_usd,
        tracked
    FROM swaps_chain
    WHERE ord > {after_ord:UInt64} AND timestamp + 86400 > {now:UInt32}
)
GROUP BY token
LIMIT {limit:UInt32}
