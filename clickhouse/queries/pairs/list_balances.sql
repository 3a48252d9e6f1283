-- Each row: the newest balances, params and doubts of one weighted or stable pool as of the snapshot, in the order of
-- pools.tokens. Reads pool_balances and the head states. If a pool's newest final balances are newer than the
-- snapshot, the query reads an older state through the projection of_pair. Runs once for each new head.
-- `state` is the tuple (ord, balances, doubts), and `params_state` the tuple (ord, params).
SELECT
    pair,
    (max(state) AS newest).2 AS balances,
    newest.3 AS doubts,
    max(params_state).2 AS params
FROM
(
    SELECT pair, state, params_state
    FROM pool_balances
    WHERE state.ord <= {tip_ord:UInt64}
    UNION ALL
    SELECT pair, (ord, balances, doubts), (ord, params)
    FROM pool_states_head_chain
    WHERE (notEmpty(balances) OR doubts > 0)
    UNION ALL
    SELECT pair, (ord, balances, doubts), (ord, params)
    FROM pool_states
    WHERE ord IN (
        SELECT max(ord)
        FROM pool_states
        WHERE pair IN (SELECT pair FROM pool_balances WHERE state.ord > {tip_ord:UInt64}) AND ord <= {final_ord:UInt64}
        GROUP BY pair
    )
)
GROUP BY pair
LIMIT {limit:UInt32}
