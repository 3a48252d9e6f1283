-- One row: the newest final route of one of the given tokens; next_token zero bytes: an anchor (confidence above 0) or
-- none. `tokens`: hex without 0x. Through the projection by_token. Older than what list_head_routes finds.
SELECT
    concat('0x', lower(hex(r.token))) AS token,
    concat('0x', lower(hex(r.next_token))) AS next_token,
    r.hops AS hops,
    r.hop_confidence AS hop_confidence,
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
    -- Rows of one block share their ord: those of other tokens go here, older ones of the same token below.
    AND lower(hex(r.token)) IN {tokens:Array(String)}
ORDER BY r.ord DESC
LIMIT 1 BY r.token
LIMIT {limit:UInt32}
