-- Each row: one of the given pools as of the snapshot. The parameter `pairs` is hex without 0x. Uses the key address.
-- Reads all rows of the head table, which is small.
SELECT
    address,
    dex,
    protocol,
    pool_type,
    token0,
    token1,
    tokens,
    weights,
    fee_pips
FROM pools_chain AS p
WHERE p.address IN (SELECT toFixedString(unhex(arrayJoin({pairs:Array(String)})), 20)) AND p.ord <= {tip_ord:UInt64}
ORDER BY p.address
LIMIT 1 BY p.address
LIMIT {limit:UInt32}
