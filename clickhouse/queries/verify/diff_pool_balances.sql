-- Each row: a pool whose newest balances, params or doubts differ between pool_balances and all final states. Scans
-- pool_states once.
SELECT
    concat('pool_balances pair=0x', lower(hex(pair))) AS item,
    any(side) AS only_in,
    toString(newest) AS value
FROM
(
    SELECT 'pool_balances' AS side, pair, (max(state), max(params_state).2) AS newest
    FROM pool_balances
    GROUP BY pair
    UNION ALL
    SELECT 'pool_states' AS side, pair, (max(tuple(ord, balances, doubts)), max(tuple(ord, params)).2) AS newest
    FROM pool_states
    WHERE notEmpty(balances) OR doubts > 0
    GROUP BY pair
)
GROUP BY pair, newest
HAVING count() = 1
ORDER BY item, only_in
LIMIT 100
