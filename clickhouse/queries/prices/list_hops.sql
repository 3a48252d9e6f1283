-- Each row: the newest hop of one token as of the snapshot: the price of one whole token in `next_token`, or
-- in USD if `next_token` is zero bytes. A token without a price has the price 0. Reads token_price_latest and
-- the head rows. If a token's newest final hop is newer than the snapshot, the query finds an older hop
-- through the projection by_token. Runs once for each new head, never for each request.
-- `price` begins with ord and the next token.
SELECT
    token,
    (max(price) AS newest).2 AS next_token,
    newest.3 AS hop_price,
    newest.4 AS hop_confidence,
    newest.5 AS hop_cap
FROM
(
    SELECT token, price
    FROM token_price_latest
    WHERE price.ord <= {tip_ord:UInt64}
    UNION ALL
    SELECT token, (ord, next_token, hop_price, hop_confidence, hop_cap)
    FROM token_prices_head_chain
    UNION ALL
    -- Older hops of the tokens whose newest final hop is newer than the snapshot. All hops of one block share
    -- one ord, so this SELECT may also return hops of other tokens. The two SELECTs above return a hop of
    -- each such token that is at least as new, so max() ignores these hops.
    SELECT token, (ord, next_token, hop_price, hop_confidence, hop_cap)
    FROM token_prices
    WHERE ord IN (
        SELECT max(ord)
        FROM token_prices
        WHERE token IN (SELECT token FROM token_price_latest WHERE price.ord > {tip_ord:UInt64}) AND ord <= {final_ord:UInt64}
        GROUP BY token
    )
)
GROUP BY token
LIMIT {limit:UInt32}
