-- Each row: the trading of one token over all its pools in one of the windows that end at `now`, each
-- (now - seconds, now]. A window without a swap has no row. A buy is a swap that lowers the pool's balance of the
-- token. Reads by ord the swaps after `after_ord`, which is the last position before the longest window.
SELECT
    seconds,
    toUInt32(countIf(is_buy)) AS buys,
    toUInt32(countIf(NOT is_buy)) AS sells,
    toUInt32(uniqExactIf(maker, is_buy)) AS buyers,
    toUInt32(uniqExactIf(maker, NOT is_buy)) AS sellers,
    toFloat64(sumIf(amount_usd, tracked)) AS volume
FROM
(
    -- both parts
    SELECT
        timestamp,
        maker,
        amount_usd,
        tracked,
        arrayJoin(arrayFilter(side -> side.1 = unhex({token:String}), [(token0, amount0 < 0), (token1, amount1 < 0)])).2 AS is_buy
    FROM swaps_chain
    WHERE ord > {after_ord:UInt64} AND (token0 = unhex({token:String}) OR token1 = unhex({token:String}))
    -- end
)
ARRAY JOIN {windows:Array(UInt32)} AS seconds
WHERE timestamp + seconds > {now:UInt32}
GROUP BY seconds
LIMIT {limit:UInt32}
