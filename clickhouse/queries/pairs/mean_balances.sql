-- At most one row: the time-weighted mean balances of one pool of more than two tokens over (since, now], raw, in the
-- order of pools.tokens. For a younger pool, the mean starts at its first state. The query returns no row if the pool
-- has no state, or if no second has passed. Uses the projection of_pair, from the newest state before the
-- window, then ord.
WITH
    (
        SELECT max(ord)
        FROM pool_states
        WHERE pair = unhex({pair:String}) AND ord <= least({since_ord:UInt64}, {final_ord:UInt64})
    ) AS ord_before
SELECT arrayMap(balance_seconds -> balance_seconds / sum(m.lasted), sumForEach(arrayMap(balance -> toFloat64(balance) * m.lasted, m.balances))) AS means
FROM
(
    -- Each state lasts from its own time (or the start of the window) to the time of the next state (or now).
    SELECT
        s.balances AS balances,
        greatest(s.timestamp, {since:UInt32}) AS started,
        toFloat64(leadInFrame(started, 1, {now:UInt32}) OVER (ORDER BY s.ord ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)) - started AS lasted
    FROM
    (
        SELECT ord, timestamp, balances
        FROM pool_states
        WHERE ord IN (
                SELECT ord
                FROM pool_states
                WHERE pair = unhex({pair:String}) AND ord >= assumeNotNull(ord_before) AND ord <= {final_ord:UInt64}
            )
            AND length(balances) > 2
        -- if commits
        UNION ALL
        SELECT ord, timestamp, balances
        FROM pool_states_head_chain
        WHERE pair = unhex({pair:String})
            AND length(balances) > 2
        -- end
    ) AS s
) AS m
HAVING sum(m.lasted) > 0
LIMIT 1
