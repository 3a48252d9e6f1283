-- Stable pools have a price only with numbers such as their amplification, which are stored with each state. Stored pools
-- of many tokens are weighted, or have no price, so their column is empty.
ALTER TABLE pool_states
    ADD COLUMN IF NOT EXISTS params Array(UInt256) COMMENT 'Pools of many tokens: numbers of the protocol that prices need beside balances and weights, such as the amplification of a stable pool; empty if prices need none, or if unknown. Pools with bins: id and changes of both reserves of each changed bin' CODEC(ZSTD(1)) AFTER balances;
ALTER TABLE pool_states_head
    ADD COLUMN IF NOT EXISTS params Array(UInt256) COMMENT 'Pools of many tokens: numbers of the protocol that prices need beside balances and weights, such as the amplification of a stable pool; empty if prices need none, or if unknown' CODEC(ZSTD(1)) AFTER balances;
ALTER TABLE found_pools
    ADD COLUMN IF NOT EXISTS params Array(UInt256) COMMENT 'Pools of many tokens: as in pool_states' AFTER balances;
ALTER TABLE pool_balances
    ADD COLUMN IF NOT EXISTS params_state SimpleAggregateFunction(max, Tuple(ord UInt64, params Array(UInt256))) COMMENT 'Newest params, as in pool_states';
ALTER TABLE mv_pool_balances MODIFY QUERY
SELECT
    pair,
    tuple(max(s.ord), argMax(s.balances, s.ord), argMax(s.doubts, s.ord)) AS state,
    tuple(max(s.ord), argMax(s.params, s.ord)) AS params_state
FROM pool_states AS s
WHERE notEmpty(s.balances) OR s.doubts > 0
GROUP BY pair;
