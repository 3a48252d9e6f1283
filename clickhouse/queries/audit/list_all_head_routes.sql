-- Each row: the newest route of one token in the canonical head. Reads all rows of the head table,
-- which is small.
SELECT
    concat('0x', lower(hex(r.token))) AS token,
    concat('0x', lower(hex(r.next_token))) AS next_token,
    r.hops AS hops,
    r.hop_confidence AS hop_confidence,
    r.other_depth_usd AS other_depth_usd,
    r.recent AS recent,
    r.stale AS stale,
    arrayMap(p -> concat('0x', lower(hex(p))), r.pairs) AS pairs,
    r.legs AS legs,
    r.weights AS weights,
    r.warnings AS warnings
FROM token_routes_head AS r
WHERE has({commits:Array(UInt64)}, r.commit) AND r.ord > {final_ord:UInt64}
ORDER BY r.ord DESC
LIMIT 1 BY r.token
LIMIT {limit:UInt32}
