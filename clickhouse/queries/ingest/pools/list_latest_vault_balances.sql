-- Each row: the newest balances, params and doubts (reasons why the pool backs no price) of one pool of many tokens, from
-- pool_balances, which a view keeps up to date.
SELECT pair, newest.balances AS balances, newest.doubts AS doubts, params
FROM
(
    SELECT pair, max(state) AS newest, max(params_state).2 AS params
    FROM pool_balances
    WHERE pair IN (SELECT toFixedString(unhex(a), 20) FROM (SELECT arrayJoin({pools:Array(String)}) AS a))
    GROUP BY pair
)
LIMIT length({pools:Array(String)})
