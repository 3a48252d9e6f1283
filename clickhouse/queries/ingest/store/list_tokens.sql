-- One row: the decimals of one token with stored metadata; 0: unknown.
SELECT
    concat('0x', lower(hex(t.address))) AS address,
    argMax(ifNull(t.decimals, 0), t.version) AS decimals
FROM tokens AS t
GROUP BY t.address
LIMIT {limit:UInt32}
