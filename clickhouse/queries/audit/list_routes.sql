-- Each row: the newest final route of one of the given tokens. A next_token of zero bytes marks an anchor (confidence
-- above 0) or a token without a route. The parameter `tokens` is hex without 0x. Finds rows through the projection
-- by_token, and reads them by ord. The head may have a newer route, which list_head_routes returns.
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
WHERE r.ord IN (
        SELECT max(ord)
        FROM token_routes
        WHERE token IN (SELECT toFixedString(unhex(arrayJoin({tokens:Array(String)})), 20)) AND ord <= {final_ord:UInt64}
        GROUP BY token
    )
    -- All rows of one block share one ord, so a selected ord also has rows of other tokens. This condition on the
    -- token drops them, and LIMIT 1 BY drops older routes of the same token.
    AND lower(hex(r.token)) IN {tokens:Array(String)}
ORDER BY r.ord DESC
LIMIT 1 BY r.token
LIMIT {limit:UInt32}
