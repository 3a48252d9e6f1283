-- At most one row: the time-weighted mean reserves of one pool over (since, now], in raw units, and the
-- time-weighted means of reserve times USD price per raw unit. For a younger pool, the mean starts at its
-- first state. The means are null if no second has passed. A pool without a state has no row. Uses the
-- projections of_pair, from the newest state before the window, then ord. The API uses this
-- query only for busy pairs. For other pairs, it computes the same means from list_window_states and
-- list_window_swaps.
WITH
    (
        SELECT max(ord)
        FROM pool_states
        WHERE pair = unhex({pair:String}) AND ord <= least({since_ord:UInt64}, {final_ord:UInt64})
    ) AS ord_before,
    -- Each state lasts from its own time (or the start of the window) to the time of the next state (or now). A
    -- row of a swap changes only the USD prices and keeps the reserves of the state before it; its own reserves are -1.
    arrayMap((moment_time, next_time) -> toFloat64(next_time) - moment_time, moments.2, arrayPushBack(arrayPopFront(moments.2), {now:UInt32})) AS seconds,
    arraySum(seconds) AS total,
    arrayReverseFill(reserve -> reserve >= 0, arrayFill(reserve -> reserve >= 0, moments.3)) AS reserves0,
    arrayReverseFill(reserve -> reserve >= 0, arrayFill(reserve -> reserve >= 0, moments.4)) AS reserves1,
    arrayReverseFill(usd -> usd > 0, arrayFill(usd -> usd > 0, moments.5)) AS prices0,
    arrayReverseFill(usd -> usd > 0, arrayFill(usd -> usd > 0, moments.6)) AS prices1
SELECT
    if(total = 0, NULL, arraySum((reserve, lasted) -> reserve * lasted, reserves0, seconds) / total) AS mean_reserve0,
    if(total = 0, NULL, arraySum((reserve, lasted) -> reserve * lasted, reserves1, seconds) / total) AS mean_reserve1,
    if(total = 0, NULL, arraySum((reserve, usd, lasted) -> reserve * usd * lasted, reserves0, prices0, seconds) / total) AS mean_value0,
    if(total = 0, NULL, arraySum((reserve, usd, lasted) -> reserve * usd * lasted, reserves1, prices1, seconds) / total) AS mean_value1
FROM
(
    SELECT
        -- A moment is (order, time, reserve0, reserve1, USD of token0, USD of token1). The order is one number, because
        -- sorting by a number is several times faster than sorting by tuples.
        arraySort(moment -> moment.1, arrayZip(
            groupArray(s.ord * 2 + s.traded),
            groupArray(toUInt32(greatest(s.timestamp, {since:UInt32}))),
            groupArray(s.moment_reserve0),
            groupArray(s.moment_reserve1),
            groupArray(s.moment_usd0),
            groupArray(s.moment_usd1)
        )) AS moments
    FROM
    (
        SELECT ord, timestamp, false AS traded, toFloat64(reserve0) AS moment_reserve0, toFloat64(reserve1) AS moment_reserve1, 0. AS moment_usd0, 0. AS moment_usd1
        FROM pool_states
        WHERE pair = unhex({pair:String}) AND ord >= assumeNotNull(ord_before) AND ord <= {final_ord:UInt64}
        UNION ALL
        SELECT ord, timestamp, true, -1., -1., if(base_is_token0, quote_price_usd, price_usd) * price, if(base_is_token0, price_usd, quote_price_usd) / price
        FROM swaps
        WHERE pair = unhex({pair:String})
            AND ord > {since_ord:UInt64}
            AND ord <= {final_ord:UInt64}
            AND timestamp > {since:UInt32}
            AND price > 0
            AND leg = 1
        -- if commits
        UNION ALL
        SELECT ord, timestamp, false, toFloat64(reserve0), toFloat64(reserve1), 0., 0.
        FROM pool_states_head_chain
        WHERE pair = unhex({pair:String})
        UNION ALL
        SELECT ord, timestamp, true, -1., -1., if(base_is_token0, quote_price_usd, price_usd) * price, if(base_is_token0, price_usd, quote_price_usd) / price
        FROM swaps_head_chain
        WHERE timestamp > {since:UInt32}
            AND pair = unhex({pair:String})
            AND price > 0
            AND leg = 1
        -- end
    ) AS s
)
WHERE notEmpty(moments)
LIMIT 1
