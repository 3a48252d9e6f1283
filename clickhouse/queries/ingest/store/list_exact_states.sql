-- Each row: the newest state of one pool up to a final block, computed from all its states in pool_states. The caller
-- throws if the answer reaches the limit.
SELECT
    pair,
    argMax(s.reserve0, s.ord) AS reserve0,
    argMax(s.reserve1, s.ord) AS reserve1,
    argMax(s.sqrt_price_x96, s.ord) AS sqrt_price_x96,
    argMax(s.liquidity, s.ord) AS liquidity,
    argMax(s.tick, s.ord) AS tick
FROM pool_states AS s
WHERE s.ord <= {final_ord:UInt64}
GROUP BY pair
LIMIT {limit:UInt32}
