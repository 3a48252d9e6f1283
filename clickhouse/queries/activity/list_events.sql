-- One row: an event of (after_ord, to_ord] by where it stands, in order, or newest first with `backward`. `pair`, `token`, `maker`:
-- hex without 0x, empty for any. `key` names the sort key: ord, or pair, token0 or token1, which have projections. ORDER BY must name
-- it: by ord alone the engine reads and sorts every row of the pair or token. With `side`, `key` is the column of the token.
SELECT toString(ord) AS ord, toString(kind) AS event
FROM
(
    -- both parts of events
    SELECT ord, kind
    FROM events
    WHERE kind IN {kinds:Array(String)}
        AND ord > {after_ord:UInt64}
        AND ord <= {to_ord:UInt64}
        AND pair = unhex({pair:String}) -- if pair
        AND {key:Identifier} = unhex({token:String}) -- if side
        AND (token0 = unhex({token:String}) OR token1 = unhex({token:String})) -- if either_side
        AND maker = unhex({maker:String}) -- if maker
    ORDER BY {key:Identifier}, ord -- if forward
    ORDER BY {key:Identifier} DESC, ord DESC -- if backward
    LIMIT {limit:UInt64} + {skip:UInt64}
    -- end
) AS e
ORDER BY e.ord -- if forward
ORDER BY e.ord DESC -- if backward
LIMIT {limit:UInt64} OFFSET {skip:UInt64}
