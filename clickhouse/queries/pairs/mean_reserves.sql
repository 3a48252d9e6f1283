-- One row: the time-weighted mean reserves (raw) of one pool over (since, now], of a younger pool since its first state;
-- null where no second passed. No row for a pool without a state. Key: the projection by_pair, from the newest state
-- before the window on, then ord.
WITH
    (
        SELECT max(ord)
        FROM pool_states
        WHERE pair = unhex({pair:String}) AND ord <= least({since_ord:UInt64}, {final_ord:UInt64})
    ) AS before,
    arrayMap((at, next) -> toFloat64(next) - at, states.2, arrayPushBack(arrayPopFront(states.2), {now:UInt32})) AS seconds,
    arraySum(seconds) AS total
SELECT
    if(total = 0, NULL, arraySum((reserve, held) -> reserve * held, states.3, seconds) / total) AS mean_reserve0,
    if(total = 0, NULL, arraySum((reserve, held) -> reserve * held, states.4, seconds) / total) AS mean_reserve1
FROM
(
    SELECT
        arraySort(groupArray((
            s.ord,
            toUInt32(greatest(s.timestamp, {since:UInt32})),
            toFloat64(s.reserve0),
            toFloat64(s.reserve1)
        ))) AS states
    FROM
    (
        SELECT ord, timestamp, reserve0, reserve1
        FROM pool_states
        WHERE ord IN (
            SELECT ord
            FROM pool_states
            WHERE pair = unhex({pair:String}) AND ord >= assumeNotNull(before) AND ord <= {final_ord:UInt64}
        )
        -- if commits
        UNION ALL
        SELECT ord, timestamp, reserve0, reserve1
        FROM pool_states_head
        WHERE has({commits:Array(UInt64)}, commit) AND ord > {final_ord:UInt64} AND pair = unhex({pair:String})
        -- end
    ) AS s
)
WHERE notEmpty(states)
LIMIT 1
