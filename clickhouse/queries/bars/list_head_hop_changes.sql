-- Each row: a hop of one of the given tokens in the canonical head blocks, with the token's previous hop, newest
-- first. The parameter `tokens` is hex without 0x. Uses the key ord of token_prices_head, which holds the newest
-- minutes of the chain.
SELECT
    token,
    ord,
    timestamp,
    next_token,
    hop_price,
    previous_next_token,
    previous_hop_price
FROM token_prices_head_chain AS p
WHERE p.ord > {after_ord:UInt64}
    AND p.ord <= {to_ord:UInt64}
    AND p.token IN (SELECT toFixedString(unhex(arrayJoin({tokens:Array(String)})), 20))
ORDER BY p.ord DESC
LIMIT {limit:UInt32}
