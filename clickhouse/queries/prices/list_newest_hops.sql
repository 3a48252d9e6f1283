-- Each row: the newest hop of one token in (from_ord, to_ord], as of the snapshot. With `tokens` (hex without 0x),
-- finds the final rows through the projection by_token, and reads them by ord. Without `tokens`, reads all rows: once
-- when the ingester starts.
SELECT * EXCEPT hop_ord
FROM
(
    -- both parts
    SELECT
        p.ord AS hop_ord,
        p.token AS token,
        p.next_token AS next_token,
        p.hop_price AS hop_price,
        p.hop_confidence AS hop_confidence,
        p.hop_cap AS hop_cap
    FROM token_prices_chain AS p
    WHERE p.ord > {from_ord:UInt64}
        AND p.ord <= {to_ord:UInt64}
        -- if tokens
        -- final part
        AND p.ord IN (
            SELECT max(ord)
            FROM token_prices
            WHERE token IN (SELECT toFixedString(unhex(arrayJoin({tokens:Array(String)})), 20))
                AND ord > {from_ord:UInt64} AND ord <= least({final_ord:UInt64}, {to_ord:UInt64})
            GROUP BY token
        )
        -- end
        -- A selected ord also has rows of other tokens, as in list_routes.
        AND lower(hex(p.token)) IN {tokens:Array(String)}
        -- end
    ORDER BY p.ord DESC
    LIMIT 1 BY p.token
    -- end
)
ORDER BY hop_ord DESC
LIMIT 1 BY token
LIMIT {limit:UInt32}
