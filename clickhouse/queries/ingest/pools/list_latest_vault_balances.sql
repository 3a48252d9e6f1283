-- Each row: the newest balances and doubts (reasons why the pool backs no price) of one vault pool, from
-- pool_balances, which a view keeps up to date.
SELECT pair, newest.balances AS balances, newest.doubts AS doubts
FROM
(
    SELECT pair, max(state) AS newest
    FROM pool_balances
    WHERE pair IN (SELECT toFixedString(unhex(arrayJoin({pools:Array(String)})), 20))
    GROUP BY pair
)
LIMIT length({pools:Array(String)})
