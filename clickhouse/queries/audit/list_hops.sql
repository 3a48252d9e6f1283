-- Each row: the newest final hop of one of the given tokens with an ord above `from_ord`. The parameter `tokens` is
-- hex without 0x. Finds rows through the projection by_token, and reads them by ord. The head may have a newer hop,
-- which list_head_hops returns.
SELECT
    concat('0x', lower(hex(p.token))) AS token,
    concat('0x', lower(hex(p.next_token))) AS next_token,
    p.hop_price AS hop_price,
    p.hop_confidence AS hop_confidence,
    p.hop_cap AS hop_cap
FROM token_prices AS p
WHERE p.ord IN (
        SELECT max(ord)
        FROM token_prices
        WHERE token IN (SELECT toFixedString(unhex(arrayJoin({tokens:Array(String)})), 20)) AND ord > {from_ord:UInt64} AND ord <= {final_ord:UInt64}
        GROUP BY token
    )
    -- All rows of one block share one ord, so a selected ord also has rows of other tokens. This condition on the
    -- token drops them, and LIMIT 1 BY drops older hops of the same token.
    AND lower(hex(p.token)) IN {tokens:Array(String)}
ORDER BY p.ord DESC
LIMIT 1 BY p.token
LIMIT {limit:UInt32}
