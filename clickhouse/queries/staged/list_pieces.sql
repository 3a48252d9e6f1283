-- One row is a piece that is staged or claimed. Reads small columns of pieces between two numbers, and never the
-- blocks. The owner is the worker with the first claim within `claim_ms`; 0 without such a claim.
SELECT
    piece,
    sum(bytes) AS bytes,
    argMinIf(worker, (at, worker), worker != 0) AS owner
FROM
(
    SELECT piece, bytes, toUInt64(0) AS worker, toDateTime64(0, 3, 'UTC') AS at
    FROM blocks
    WHERE piece BETWEEN {first:UInt32} AND {last:UInt32}
    UNION ALL
    SELECT piece, toUInt64(0) AS bytes, worker, at
    FROM claims
    WHERE piece BETWEEN {first:UInt32} AND {last:UInt32}
        AND at > subtractMilliseconds(now64(3), {claim_ms:UInt32})
)
GROUP BY piece
ORDER BY piece
LIMIT {limit:UInt32}
