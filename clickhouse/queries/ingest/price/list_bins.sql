-- Each row: the reserves of one bin: the sum of the changes that the states of its pool keep in `params` up to the newest
-- block of the snapshot, as in binMoves.ts. A sum of changes modulo 2^256 is the reserve, without what the bin held before
-- the first ingested block. Without `pairs` (hex without 0x), the result has the bins of all pools; the ingester then scans
-- pool_states, once per start.
SELECT
    pair,
    toInt32(bitAnd(bin.1, 16777215)) AS id,
    sum(bin.2) AS amount0,
    sum(bin.3) AS amount1
FROM
(
    SELECT
        pair,
        arrayJoin(arrayMap(i -> (params[3 * i + 1], params[3 * i + 2], params[3 * i + 3]), range(intDiv(length(params), 3)))) AS bin
    FROM pool_states_chain
    WHERE pool_type = 7
        AND pair IN (SELECT toFixedString(unhex(arrayJoin({pairs:Array(String)})), 20)) -- if pairs
)
GROUP BY pair, bin.1
HAVING amount0 != 0 OR amount1 != 0
ORDER BY pair, id
LIMIT {limit:UInt32}
