-- Each row: the creation of one pool that is older than the first ingested block, if the row was written
-- after `since_version`. Scans pool_births, so the program runs this query once for each new head, never for
-- each request.
SELECT
    b.address,
    b.created_block,
    b.created_at,
    b.created_tx,
    b.version
FROM pool_births AS b
WHERE b.version > {since_version:UInt64}
LIMIT {limit:UInt32}
