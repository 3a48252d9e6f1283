-- Each row: the reserves of one V2 pair right after its newest mint or burn, as of the snapshot. If the pair has a
-- protocol fee, the product of these reserves is the pair's kLast. A pair emits Sync directly before Mint or Burn
-- (UniswapV2Pair.sol). Uses the projection by_pair_kind of liquidity_events, then ord of pool_states. Reads all rows of
-- the head tables, which are small. The parameter `pairs` is hex without 0x.
SELECT
    s.pair AS pair,
    s.reserve0 AS reserve0,
    s.reserve1 AS reserve1
FROM
(
    SELECT pair, ord, reserve0, reserve1
    FROM pool_states
    WHERE ord IN (
        SELECT max(ord) - 1
        FROM liquidity_events
        WHERE pair IN (SELECT toFixedString(unhex(arrayJoin({pairs:Array(String)})), 20)) AND ord <= {final_ord:UInt64}
        GROUP BY pair
    )
    UNION ALL
    SELECT pair, ord, reserve0, reserve1
    FROM pool_states_head_chain
    WHERE ord IN (
        SELECT max(ord) - 1
        FROM liquidity_events_head_chain
        WHERE has({pairs:Array(String)}, lower(hex(pair)))
        GROUP BY pair
    )
) AS s
ORDER BY s.ord DESC
LIMIT 1 BY s.pair
LIMIT {limit:UInt32}
