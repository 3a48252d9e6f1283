-- One row: one token whose metadata was read, with its decimals; 0 where they are not known.
SELECT
    concat('0x', lower(hex(t.address))) AS address,
    argMax(ifNull(t.decimals, 0), t.version) AS decimals
FROM tokens AS t
GROUP BY t.address
