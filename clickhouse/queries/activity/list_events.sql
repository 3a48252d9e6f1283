-- Each row: the ord and kind of an event in (after_ord, to_ord]. The final events come in ascending order, or newest
-- first with `backward`, and so do the head events; the caller merges the two lists. With `merged`, ClickHouse merges
-- them, and leaves out the first `skip` events. Without `some_kinds`, every kind matches. The filters `pair`, `token`
-- and `maker` are hex without 0x; an empty filter accepts any value. The column `key` is the sort key: ord, or pair,
-- token0 or token1, which have projections. With `other_key`, which needs `merged`, the token must be in one of the two
-- columns; with `either_side`, in token0 or token1. ORDER BY must name the key: by ord alone, the engine would read and
-- sort every row of the pair or token. For a token, the statement names the projections (decision 147).
-- if merged
SELECT ord, kind
FROM
(
-- end
-- both parts
SELECT ord, kind
FROM events_chain
WHERE ord > {after_ord:UInt64}
    AND ord <= {to_ord:UInt64}
    AND kind IN {kinds:Array(String)} -- if some_kinds
    AND pair = unhex({pair:String}) -- if pair
    AND {key:Identifier} = unhex({token:String}) -- if other_key
    AND (token0 = unhex({token:String}) OR token1 = unhex({token:String})) -- if either_side
    AND maker = unhex({maker:String}) -- if maker
ORDER BY {key:Identifier}, ord -- if forward
ORDER BY {key:Identifier} DESC, ord DESC -- if backward
LIMIT {limit:UInt64} + {skip:UInt64}
SETTINGS preferred_optimize_projection_name = 'by_token0' -- if other_key
-- end
-- if other_key
UNION ALL
-- both parts
SELECT ord, kind
FROM events_chain
WHERE ord > {after_ord:UInt64}
    AND ord <= {to_ord:UInt64}
    AND kind IN {kinds:Array(String)} -- if some_kinds
    AND {other_key:Identifier} = unhex({token:String})
ORDER BY {other_key:Identifier}, ord -- if forward
ORDER BY {other_key:Identifier} DESC, ord DESC -- if backward
LIMIT {limit:UInt64} + {skip:UInt64}
SETTINGS preferred_optimize_projection_name = 'by_token1'
-- end
-- end
-- if merged
) AS e
ORDER BY e.ord -- if forward
ORDER BY e.ord DESC -- if backward
LIMIT {limit:UInt64} OFFSET {skip:UInt64}
-- end
