-- Each row: the newest route of one token in (from_ord, to_ord], as of the snapshot. A next_token of zero bytes marks
-- an anchor (confidence above 0) or a token without a route. With `tokens` (hex without 0x), finds the final rows
-- through the projection by_token, and reads them by ord. Without `tokens`, reads all rows of the range: once when the
-- ingester starts, and for the new blocks of each head.
SELECT *
FROM
(
    -- both parts
    SELECT * EXCEPT commit
    FROM token_routes_chain AS r
    WHERE r.ord > {from_ord:UInt64}
        AND r.ord <= {to_ord:UInt64}
        -- if tokens
        -- final part
        AND r.ord IN (
            SELECT max(ord)
            FROM token_routes
            WHERE token IN (SELECT toFixedString(unhex(arrayJoin({tokens:Array(String)})), 20))
                AND ord > {from_ord:UInt64} AND ord <= least({final_ord:UInt64}, {to_ord:UInt64})
            GROUP BY token
        )
        -- end
        -- All rows of one block share one ord, so a selected ord also has rows of other tokens. This condition on the
        -- token drops them, and LIMIT 1 BY drops older routes of the same token.
        AND lower(hex(r.token)) IN {tokens:Array(String)}
        -- end
    ORDER BY r.ord DESC
    LIMIT 1 BY r.token
    -- end
)
ORDER BY ord DESC
LIMIT 1 BY token
LIMIT {limit:UInt32}
