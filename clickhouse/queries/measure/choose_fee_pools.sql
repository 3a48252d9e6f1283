-- Each row: a pool of the given protocols with a swap whose protocol's part of the fees was not read yet. Reads the
-- tables of pools, pair totals and first shares, once per round of the background worker.
SELECT p.address AS pair
FROM
(
    SELECT address
    FROM pools_chain AS c
    WHERE protocol IN {protocols:Array(String)}
) AS p
WHERE p.address NOT IN (SELECT pair FROM pool_first_shares)
    AND p.address IN
    (
        SELECT pair FROM pair_totals
        UNION ALL
        SELECT pair
        FROM swaps_head_chain
    )
ORDER BY p.address
LIMIT {limit:UInt32}
