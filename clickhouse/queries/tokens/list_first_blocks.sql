-- Each row: one token in a pool of the snapshot, and the block of the token's first pool. Reads all pools, so
-- the program runs this query once for each new head, never for each request.
SELECT
    concat('0x', lower(hex(token))) AS token,
    toUInt32(min(intDiv(ord, 1048576))) AS first_seen_block
FROM
(
    SELECT ord, arrayJoin(if(empty(tokens), [token0, token1], tokens)) AS token
    FROM pools_chain
)
GROUP BY token
LIMIT {limit:UInt32}
