-- One row: what one pool of two tokens held after a log, in no order, as of the snapshot: final states after `week_ord` and the
-- newest before, found through the projection by_pair_kind; and all of the head. Read as RowBinary in this order of columns.
SELECT
    ord,
    timestamp,
    reserve0,
    reserve1
FROM pool_states
WHERE ord IN (
        SELECT ord
        FROM pool_states
        WHERE pair = unhex({pair:String}) AND ord > {week_ord:UInt64} AND ord <= {final_ord:UInt64}
    )
    OR ord IN (
        SELECT max(ord)
        FROM pool_states
        WHERE pair = unhex({pair:String}) AND ord <= least({week_ord:UInt64}, {final_ord:UInt64})
    )
-- if commits
UNION ALL
SELECT
    ord,
    timestamp,
    reserve0,
    reserve1
FROM pool_states_head
WHERE has({commits:Array(UInt64)}, commit) AND ord > {final_ord:UInt64} AND pair = unhex({pair:String})
-- end
LIMIT {limit:UInt32}
