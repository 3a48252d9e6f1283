-- One row: the newest balances of one pool of a vault up to a final block, computed from all its
-- states.
SELECT
    concat('0x', lower(hex(s.pair))) AS pair,
    arrayMap(b -> toString(b), argMax(s.balances, s.ord)) AS balances
FROM pool_states AS s
WHERE s.ord <= {final_ord:UInt64}
    AND notEmpty(s.balances)
    AND s.pair IN (SELECT toFixedString(unhex(a), 20) FROM (SELECT arrayJoin({pools:Array(String)}) AS a))
GROUP BY s.pair
LIMIT length({pools:Array(String)})
