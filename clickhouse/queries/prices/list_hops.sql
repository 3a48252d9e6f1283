-- One row: the newest hop of one token as of the snapshot: what one whole token is worth in `next_token`, or in USD where
-- that is zero bytes; 0: nothing. Reads token_price_latest, the head rows, and, for tokens whose newest final hop lies
-- beyond the snapshot, their older hops through the projection by_token. Once per head version, never per request.
SELECT
    concat('0x', lower(hex(token))) AS token,
    concat('0x', lower(hex((max(price) AS newest).2))) AS next_token,
    newest.3 AS hop_price,
    newest.4 AS hop_confidence
FROM
(
    SELECT token, price
    FROM token_price_latest
    WHERE price.1 <= {tip_ord:UInt64}
    UNION ALL
    SELECT token, (ord, next_token, hop_price, hop_confidence)
    FROM token_prices_head
    WHERE has({commits:Array(UInt64)}, commit) AND ord > {final_ord:UInt64}
    UNION ALL
    -- Rows of one block share their ord, so this may also give hops of other tokens: older ones, which lose.
    SELECT token, (ord, next_token, hop_price, hop_confidence)
    FROM token_prices
    WHERE ord IN (
        SELECT max(ord)
        FROM token_prices
        WHERE token IN (SELECT token FROM token_price_latest WHERE price.1 > {tip_ord:UInt64}) AND ord <= {final_ord:UInt64}
        GROUP BY token
    )
)
GROUP BY token
LIMIT {limit:UInt32}
