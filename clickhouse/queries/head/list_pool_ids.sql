-- Each row: one pool without a contract as of the snapshot, above the position `since_ord`. Reads the columns ord and
-- pool_id of all pools, so the program runs this query once for each new head, never for each request.
SELECT assumeNotNull(pool_id) AS pool_id
FROM pools_chain
WHERE isNotNull(pool_id)
    AND ord > {since_ord:UInt64}
LIMIT {limit:UInt32}
