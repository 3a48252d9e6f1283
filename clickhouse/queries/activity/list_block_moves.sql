-- Each row: liquidity that went into a pool or out of it in one block, oldest first. Uses the key ord.
SELECT
    tx_hash,
    pair,
    kind
FROM liquidity_events_chain
WHERE ord > {before_ord:UInt64} AND ord <= {last_ord:UInt64}
ORDER BY ord
LIMIT {limit:UInt32}
