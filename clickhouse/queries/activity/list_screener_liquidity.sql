-- Each row: one mint or burn in (after_ord, to_ord] of the snapshot's chain. The reserves come from the pool's newest
-- state in the same transaction, at or before the event, because V2 pairs emit Sync before Mint and Burn. They are
-- null if the transaction has no such state. Uses the key ord. Must never scan beyond the range.
WITH
    events AS
    (
        SELECT *
        FROM liquidity_events_chain
        WHERE kind IN ('mint', 'burn') AND ord > {after_ord:UInt64} AND ord <= {to_ord:UInt64}
    ),
    states AS
    (
        SELECT ord, pair, tx_hash, reserve0, reserve1
        FROM pool_states_chain
        WHERE ord > {after_ord:UInt64} AND ord <= {to_ord:UInt64}
    )
SELECT
    e.ord AS ord,
    e.timestamp AS timestamp,
    e.kind AS kind,
    e.pair AS pair,
    e.token0 AS token0,
    e.token1 AS token1,
    e.tx_hash AS tx_hash,
    e.tx_index AS tx_index,
    ifNull(e.maker, e.owner) AS maker,
    e.amount0 AS amount0,
    e.amount1 AS amount1,
    if(s.ord = 0, NULL, s.reserve0) AS reserve0,
    if(s.ord = 0, NULL, s.reserve1) AS reserve1
FROM events AS e
ASOF LEFT JOIN states AS s ON e.pair = s.pair AND e.tx_hash = s.tx_hash AND e.ord >= s.ord
ORDER BY e.ord
LIMIT {limit:UInt32}
