-- Each row: the newest final route of one token with an ord in (from_ord, final_ord]. Uses the key ord. The caller
-- keeps the routes in memory and updates them for each new head: the first read returns all routes, a later read only
-- the routes that were stored since.
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
FROM token_routes AS r
WHERE r.ord > {from_ord:UInt64} AND r.ord <= {final_ord:UInt64}
ORDER BY r.ord DESC
LIMIT 1 BY r.token
LIMIT {limit:UInt32}
