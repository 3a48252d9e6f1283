-- Each row: the reserves of one two-token pool after a log, in no order, as of the snapshot. Reads the final
-- states after `week_start_ord` and the newest state before it, from the projection of_pair, and all head
-- states of the pool.
SELECT
    ord,
    timestamp,
    reserve0,
    reserve1
FROM pool_states
WHERE pair = unhex({pair:String}) AND ord <= {final_ord:UInt64} AND ord > {week_start_ord:UInt64}
LIMIT {limit:UInt32}
UNION ALL
SELECT
    ord,
    timestamp,
    reserve0,
    reserve1
FROM pool_states
WHERE pair = unhex({pair:String}) AND ord <= least({week_start_ord:UInt64}, {final_ord:UInt64})
ORDER BY pair DESC, ord DESC
LIMIT 1
-- if commits
UNION ALL
SELECT
    ord,
    timestamp,
    reserve0,
    reserve1
FROM pool_states_head_chain
WHERE pair = unhex({pair:String})
LIMIT {limit:UInt32}
-- end
