-- Each row: the number of events with an ord (position in the chain) in (after_ord, to_ord]. `kinds` (with
-- `some_kinds`), `pair`, `token` and `maker` select the events, with addresses in hex without 0x. With `side`, the
-- token must be in the column `key` (token0 or token1); with `either_side`, in one of the two. Without an ORDER BY,
-- ClickHouse itself chooses which projection it reads.
SELECT sum(e.events) AS events
FROM
(
    -- both parts
    SELECT count() AS events
    FROM events_chain
    WHERE ord > {after_ord:UInt64}
        AND ord <= {to_ord:UInt64}
        AND kind IN {kinds:Array(String)} -- if some_kinds
        AND pair = unhex({pair:String}) -- if pair
        AND {key:Identifier} = unhex({token:String}) -- if side
        AND (token0 = unhex({token:String}) OR token1 = unhex({token:String})) -- if either_side
        AND maker = unhex({maker:String}) -- if maker
    -- end
) AS e
LIMIT 1
