-- One row: the prices (raw token1 per raw token0; 0: none) of one pool 5 minutes, 1, 6 and 24 hours before `now`, and its
-- time-weighted mean reserves (raw) over the 24 hours, of a younger pool since its first state; null where no second
-- passed. For pools whose state moved within the day; the others stand where they stood. Key: ord for the day, the
-- projection by_pair for the state before it. Once per head version, never per request.
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
    assumeNotNull(block_before) * 1048576 + 1048575 AS day_ord,
    if({now:UInt32} > 86400, {now:UInt32} - 86400, 0) AS since,
    moved AS
    (
        SELECT DISTINCT pair
        FROM pool_states
        WHERE ord > day_ord AND ord <= {final_ord:UInt64}
        UNION DISTINCT
        SELECT DISTINCT pair
        FROM pool_states_head
        WHERE has({commits:Array(UInt64)}, commit) AND ord > {final_ord:UInt64}
    ),
    -- Each state holds from its start, or that of the window, to the start of the next one, or now.
    arrayMap((at, next) -> toFloat64(next) - at, states.2, arrayPushBack(arrayPopFront(states.2), {now:UInt32})) AS seconds,
    arraySum(seconds) AS total
SELECT
    concat('0x', lower(hex(p.pair))) AS pair,
    price_m5,
    price_h1,
    price_h6,
    price_h24,
    if(total = 0, NULL, arraySum((reserve, held) -> reserve * held, states.3, seconds) / total) AS mean_reserve0,
    if(total = 0, NULL, arraySum((reserve, held) -> reserve * held, states.4, seconds) / total) AS mean_reserve1
FROM
(
    SELECT
        pair,
        argMaxIf(price, ord, timestamp + 300 <= {now:UInt32}) AS price_m5,
        argMaxIf(price, ord, timestamp + 3600 <= {now:UInt32}) AS price_h1,
        argMaxIf(price, ord, timestamp + 21600 <= {now:UInt32}) AS price_h6,
        argMaxIf(price, ord, timestamp + 86400 <= {now:UInt32}) AS price_h24,
        arraySort(groupArray((ord, toUInt32(greatest(timestamp, since)), toFloat64(reserve0), toFloat64(reserve1)))) AS states
    FROM
    (
        SELECT pair, ord, timestamp, price, reserve0, reserve1
        FROM pool_states
        WHERE ord > day_ord AND ord <= {final_ord:UInt64}
        UNION ALL
        SELECT pair, ord, timestamp, price, reserve0, reserve1
        FROM pool_states_head
        WHERE has({commits:Array(UInt64)}, commit) AND ord > {final_ord:UInt64}
        UNION ALL
        SELECT pair, ord, timestamp, price, reserve0, reserve1
        FROM pool_states
        WHERE ord IN (
            SELECT max(ord)
            FROM pool_states
            WHERE pair IN (SELECT pair FROM moved) AND ord <= least(day_ord, {final_ord:UInt64})
            GROUP BY pair
        )
    )
    GROUP BY pair
) AS p
LIMIT {limit:UInt32}
