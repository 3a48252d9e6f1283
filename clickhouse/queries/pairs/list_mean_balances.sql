-- Each row: the time-weighted mean balances of one pool of more than two tokens over the 24 hours before `now`, raw, in
-- the order of pools.tokens. For a younger pool, the mean starts at its first state. Pools without a state change in
-- this time have no row. Reads the day by the key ord, and the newest state before the day through the projection
-- of_pair. Runs once for each new head, on chains with a vault.
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
        FROM pool_balances
        WHERE state.ord > day_ord AND length(state.balances) > 2
        UNION DISTINCT
        SELECT DISTINCT pair
        FROM pool_states_head_chain
        WHERE pool_type IN (4, 5) AND length(balances) > 2
    )
SELECT
    m.pair AS pair,
    arrayMap(balance_seconds -> balance_seconds / sum(m.lasted), sumForEach(arrayMap(balance -> toFloat64(balance) * m.lasted, m.balances))) AS means
FROM
(
    -- Each state lasts from its own time (or the start of the window) to the time of the next state (or now).
    SELECT
        s.pair AS pair,
        s.balances AS balances,
        greatest(s.timestamp, since) AS started,
        toFloat64(leadInFrame(started, 1, {now:UInt32}) OVER (PARTITION BY s.pair ORDER BY s.ord ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)) - started AS lasted
    FROM
    (
        SELECT pair, ord, timestamp, balances
        FROM pool_states_chain
        WHERE ord > day_ord AND pool_type IN (4, 5) AND length(balances) > 2
        UNION ALL
        SELECT pair, ord, timestamp, balances
        FROM pool_states
        WHERE ord IN (
                SELECT max(ord)
                FROM pool_states
                WHERE pair IN (SELECT pair FROM moved) AND ord <= least(day_ord, {final_ord:UInt64})
                GROUP BY pair
            )
            AND length(balances) > 2
    ) AS s
) AS m
GROUP BY m.pair
HAVING sum(m.lasted) > 0
LIMIT {limit:UInt32}
