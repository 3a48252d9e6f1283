-- Each row: one of the given pools as of the snapshot. The parameter `pairs` is hex without 0x. Uses the key address.
-- Reads all rows of the head table, which is small.
SELECT
    concat('0x', lower(hex(p.address))) AS address,
    p.dex AS dex,
    p.pool_type AS pool_type,
    concat('0x', lower(hex(p.token0))) AS token0,
    concat('0x', lower(hex(p.token1))) AS token1,
    arrayMap(t -> concat('0x', lower(hex(t))), p.tokens) AS tokens,
    arrayMap(w -> toString(w), p.weights) AS weights,
    p.fee_pips AS fee_pips
FROM pools_chain AS p
WHERE p.address IN (SELECT toFixedString(unhex(arrayJoin({pairs:Array(String)})), 20)) AND p.ord <= {tip_ord:UInt64}
ORDER BY p.address
LIMIT 1 BY p.address
LIMIT {limit:UInt32}
