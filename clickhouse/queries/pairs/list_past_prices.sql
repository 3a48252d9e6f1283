-- Each row: the prices of one pool 5 minutes, 1, 6 and 24 hours before `now`, and its time-weighted mean reserves over
-- the 24 hours. Only pools whose state changed within the day have a row. Prices are raw token1 per raw token0; 0
-- means that the pool had no price. Mean reserves are raw. For a younger pool, the mean starts at its first state. The
-- means are null if no second has passed. `mean_value0` and `mean_value1` are the mean USD values of the reserves.
-- Each state uses the USD price of the pool's previous swap in the window. The unit of these two means is 10^-d USD,
-- where d is the decimals of the pool's other token. States before the first swap use the price of the first swap; the
-- value is 0 without a price. Reads the day by the key ord, and the newest state before the day through the projection
-- of_pair. Runs once for each new head, never for each request.
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
    ) AS block_before,
    assumeNotNull(block_before) * 1048576 + 1048575 AS day_ord,
    if({now:UInt32} > 86400, {now:UInt32} - 86400, 0) AS since,
    moved AS
    (
        SELECT DISTINCT pair
        FROM pool_states_chain
        WHERE ord > day_ord
    ),
    -- Each state lasts from its own time (or the start of the window) to the time of the next state (or now). A
    -- row of a swap changes only the USD prices and keeps the reserves of the state before it; its own reserves are -1.
    arrayMap((moment_time, next_time) -> toFloat64(next_time) - moment_time, moments.2, arrayPushBack(arrayPopFront(moments.2), {now:UInt32})) AS seconds,
    arraySum(seconds) AS total,
    arrayReverseFill(reserve -> reserve >= 0, arrayFill(reserve -> reserve >= 0, moments.3)) AS reserves0,
    arrayReverseFill(reserve -> reserve >= 0, arrayFill(reserve -> reserve >= 0, moments.4)) AS reserves1,
    arrayReverseFill(usd -> usd > 0, arrayFill(usd -> usd > 0, moments.5)) AS prices0,
    arrayReverseFill(usd -> usd > 0, arrayFill(usd -> usd > 0, moments.6)) AS prices1
SELECT
    pair,
    price_m5,
    price_h1,
    price_h6,
    price_h24,
    if(total = 0, NULL, arraySum((reserve, lasted) -> reserve * lasted, reserves0, seconds) / total) AS mean_reserve0,
    if(total = 0, NULL, arraySum((reserve, lasted) -> reserve * lasted, reserves1, seconds) / total) AS mean_reserve1,
    if(total = 0, NULL, arraySum((reserve, usd, lasted) -> reserve * usd * lasted, reserves0, prices0, seconds) / total) AS mean_value0,
    if(total = 0, NULL, arraySum((reserve, usd, lasted) -> reserve * usd * lasted, reserves1, prices1, seconds) / total) AS mean_value1
FROM
(
    SELECT
        pair,
        argMaxIf(price, ord, NOT traded AND timestamp + 300 <= {now:UInt32}) AS price_m5,
        argMaxIf(price, ord, NOT traded AND timestamp + 3600 <= {now:UInt32}) AS price_h1,
        argMaxIf(price, ord, NOT traded AND timestamp + 21600 <= {now:UInt32}) AS price_h6,
        argMaxIf(price, ord, NOT traded AND timestamp + 86400 <= {now:UInt32}) AS price_h24,
        -- A moment is (order, time, reserve0, reserve1, USD of token0, USD of token1). The order is one number, because
        -- sorting by a number is several times faster than sorting by tuples.
        arraySort(moment -> moment.1, arrayZip(
            groupArray(ord * 2 + traded),
            groupArray(toUInt32(greatest(timestamp, since))),
            groupArray(moment_reserve0),
            groupArray(moment_reserve1),
            groupArray(moment_usd0),
            groupArray(moment_usd1)
        )) AS moments
    FROM
    (
        SELECT pair, ord, timestamp, price, false AS traded, toFloat64(reserve0) AS moment_reserve0, toFloat64(reserve1) AS moment_reserve1, 0. AS moment_usd0, 0. AS moment_usd1
        FROM pool_states_chain
        WHERE ord > day_ord
        UNION ALL
        SELECT pair, ord, timestamp, price, false, toFloat64(reserve0), toFloat64(reserve1), 0., 0.
        FROM pool_states
        WHERE ord IN (
            SELECT max(ord)
            FROM pool_states
            WHERE pair IN (SELECT pair FROM moved) AND ord <= least(day_ord, {final_ord:UInt64})
            GROUP BY pair
        )
        UNION ALL
        SELECT pair, ord, timestamp, price, true, -1., -1., if(base_is_token0, quote_price_usd, price_usd) * price, if(base_is_token0, price_usd, quote_price_usd) / price
        FROM swaps_chain
        WHERE ord > day_ord AND timestamp > since AND price > 0 AND leg = 1
    )
    GROUP BY pair
    HAVING countIf(NOT traded) > 0
) AS p
LIMIT {limit:UInt32}
