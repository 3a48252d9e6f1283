-- Each row: the reserves of one bin: the sum of the changes that the final states of its pool keep in `params`, as in
-- binMoves.ts. A sum of changes modulo 2^256 is the reserve. Scans pool_states, once per start of the ingester.
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
    FROM pool_states
    WHERE pool_type = 7 AND ord <= {final_ord:UInt64}
)
GROUP BY pair, bin.1
HAVING amount0 != 0 OR amount1 != 0
ORDER BY pair, id
LIMIT {limit:UInt32}
