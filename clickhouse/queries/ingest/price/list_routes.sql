-- Each row: the newest route of one token.
SELECT
    concat('0x', lower(hex(r.token))) AS token,
    concat('0x', lower(hex(r.next_token))) AS next_token,
    hops,
    hop_confidence,
    depth_usd,
    other_depth_usd,
    recent,
    stale,
    arrayMap(p -> concat('0x', lower(hex(p))), r.pairs) AS pairs,
    legs,
    weights,
    warnings
FROM token_routes AS r
WHERE ord <= {final_ord:UInt64}
ORDER BY r.ord DESC
LIMIT 1 BY r.token
LIMIT {limit:UInt32}
