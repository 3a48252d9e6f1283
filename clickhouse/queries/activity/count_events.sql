-- Each row: the number of events with an ord (position in the chain) in (after_ord, to_ord]. `kinds` (with
-- `some_kinds`), `pair`, `token` and `maker` select the events, with addresses in hex without 0x. With `other_key`, the
-- token must be in the column `key` or `other_key` (token0, token1), which are counted separately; with `either_side`,
-- in one of the two. For a token, the statement names the projections (decision 147). Otherwise ClickHouse chooses one.
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
        AND {key:Identifier} = unhex({token:String}) -- if other_key
        AND (token0 = unhex({token:String}) OR token1 = unhex({token:String})) -- if either_side
        AND maker = unhex({maker:String}) -- if maker
    SETTINGS preferred_optimize_projection_name = 'by_token0' -- if other_key
    -- end
    -- if other_key
    UNION ALL
    -- both parts
    SELECT count() AS events
    FROM events_chain
    WHERE ord > {after_ord:UInt64}
        AND ord <= {to_ord:UInt64}
        AND kind IN {kinds:Array(String)} -- if some_kinds
        AND {other_key:Identifier} = unhex({token:String})
    SETTINGS preferred_optimize_projection_name = 'by_token1'
    -- end
    -- end
) AS e
LIMIT 1
