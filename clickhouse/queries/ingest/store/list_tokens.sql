-- Each row: the decimals of one token with stored metadata; null if they are unknown.
SELECT
    concat('0x', lower(hex(t.address))) AS address,
    argMax(tuple(t.decimals), t.version).1 AS decimals
FROM tokens AS t
GROUP BY t.address
LIMIT {limit:UInt32}
