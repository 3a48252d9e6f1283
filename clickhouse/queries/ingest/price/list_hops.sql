-- Each row: the newest final hop of one token: its price in the next token of its route.
SELECT
    concat('0x', lower(hex(p.token))) AS token,
    concat('0x', lower(hex(p.next_token))) AS next_token,
    hop_price,
    hop_confidence,
    hop_cap
FROM token_prices AS p
WHERE ord <= {final_ord:UInt64}
ORDER BY p.ord DESC
LIMIT 1 BY p.token
LIMIT {limit:UInt32}
