-- Each row: the trading of one pair in one of the windows that end at `now`, each (now - seconds, now]. A window
-- without a swap has no row. Reads the swaps after `after_ord`, which is the last position before the longest window,
-- from the projection of_pair. With arrayJoin instead of ARRAY JOIN, ClickHouse would read these swaps of all pairs.
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
    SELECT timestamp, maker, amount_usd, tracked, if(base_is_token0, amount0, amount1) < 0 AS is_buy
    FROM swaps_chain
    WHERE ord > {after_ord:UInt64} AND pair = unhex({pair:String})
    -- end
)
ARRAY JOIN {windows:Array(UInt32)} AS seconds
WHERE timestamp + seconds > {now:UInt32}
GROUP BY seconds
LIMIT {limit:UInt32}
