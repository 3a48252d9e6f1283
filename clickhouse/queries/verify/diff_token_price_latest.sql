-- Each row: a token whose newest hop differs between token_price_latest and all final hops. Scans token_prices once.
SELECT
    concat('token_price_latest token=0x', lower(hex(token))) AS item,
    any(side) AS only_in,
    toString((newest.1, hex(newest.2), newest.3, newest.4, newest.5)) AS value
FROM
(
    SELECT 'token_price_latest' AS side, token, max(price) AS newest
    FROM token_price_latest
    GROUP BY token
    UNION ALL
    SELECT 'token_prices' AS side, token, max(tuple(ord, next_token, hop_price, hop_confidence, hop_cap)) AS newest
    FROM token_prices
    GROUP BY token
)
GROUP BY token, newest
HAVING count() = 1
ORDER BY item, only_in
LIMIT 100
