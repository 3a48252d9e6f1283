-- One row: the newest final hop of one of the given tokens with an ord above `from_ord`. `tokens`: hex without 0x. Through
-- the projection by_token. Older than what list_head_hops finds.
SELECT
    concat('0x', lower(hex(p.token))) AS token,
    concat('0x', lower(hex(p.next_token))) AS next_token,
    p.hop_price AS hop_price,
    p.hop_confidence AS hop_confidence
FROM token_prices AS p
WHERE p.ord IN (
        SELECT max(ord)
        FROM token_prices
        WHERE token IN (SELECT toFixedString(unhex(arrayJoin({tokens:Array(String)})), 20)) AND ord > {from_ord:UInt64} AND ord <= {final_ord:UInt64}
        GROUP BY token
    )
    -- Rows of one block share their ord: those of other tokens go here, older ones of the same token below.
    AND lower(hex(p.token)) IN {tokens:Array(String)}
ORDER BY p.ord DESC
LIMIT 1 BY p.token
LIMIT {limit:UInt32}
