-- Each row: the newest hop of one of the given tokens in the head up to `tip_ord`. The parameter `tokens` is hex
-- without 0x. Reads all rows of the head table, which is small.
SELECT
    concat('0x', lower(hex(p.token))) AS token,
    concat('0x', lower(hex(p.next_token))) AS next_token,
    p.hop_price AS hop_price,
    p.hop_confidence AS hop_confidence,
    p.hop_cap AS hop_cap
FROM token_prices_head AS p
WHERE has({commits:Array(UInt64)}, p.commit) AND p.ord > {final_ord:UInt64} AND p.ord <= {tip_ord:UInt64}
    AND lower(hex(p.token)) IN {tokens:Array(String)}
ORDER BY p.ord DESC
LIMIT 1 BY p.token
LIMIT {limit:UInt32}
