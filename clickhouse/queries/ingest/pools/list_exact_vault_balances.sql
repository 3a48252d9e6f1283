-- Each row: the newest balances, params and doubts (reasons why the pool backs no price) of one pool of many tokens up to
-- a final block, computed from all its states.
SELECT
    pair,
    argMax(s.balances, s.ord) AS balances,
    argMax(s.doubts, s.ord) AS doubts,
    argMax(s.params, s.ord) AS params
FROM pool_states AS s
WHERE s.ord <= {final_ord:UInt64}
    AND (notEmpty(s.balances) OR s.doubts > 0)
    AND s.pair IN (SELECT toFixedString(unhex(a), 20) FROM (SELECT arrayJoin({pools:Array(String)}) AS a))
GROUP BY s.pair
LIMIT length({pools:Array(String)})
