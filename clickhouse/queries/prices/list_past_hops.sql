-- Each row: the hops of one token 5 minutes, 1, 6 and 24 hours before `now`, for tokens whose hop changed
-- within the day. The hop at a time is the value that the first later change replaced. A token without a
-- price at that time has the price 0. Without a later change, `next_…` is null, and the newest hop was
-- already valid at that time. Uses the key ord, from the first block of the day (`after_ord`). Runs once for
-- each new head, never for each request.
SELECT
    token,
    if(countIf(in_m5) = 0, NULL, argMinIf(previous_next_token, ord, in_m5)) AS next_m5,
    if(countIf(in_h1) = 0, NULL, argMinIf(previous_next_token, ord, in_h1)) AS next_h1,
    if(countIf(in_h6) = 0, NULL, argMinIf(previous_next_token, ord, in_h6)) AS next_h6,
    argMin(previous_next_token, ord) AS next_h24,
    argMinIf(previous_hop_price, ord, in_m5) AS price_m5,
    argMinIf(previous_hop_price, ord, in_h1) AS price_h1,
    argMinIf(previous_hop_price, ord, in_h6) AS price_h6,
    argMin(previous_hop_price, ord) AS price_h24,
    argMinIf(previous_hop_confidence, ord, in_m5) AS confidence_m5,
    argMinIf(previous_hop_confidence, ord, in_h1) AS confidence_h1,
    argMinIf(previous_hop_confidence, ord, in_h6) AS confidence_h6,
    argMin(previous_hop_confidence, ord) AS confidence_h24
FROM
(
    SELECT
        token,
        ord,
        previous_next_token,
        previous_hop_price,
        previous_hop_confidence,
        timestamp + 300 > {now:UInt32} AS in_m5,
        timestamp + 3600 > {now:UInt32} AS in_h1,
        timestamp + 21600 > {now:UInt32} AS in_h6
    FROM token_prices_chain
    WHERE ord > {after_ord:UInt64} AND timestamp + 86400 > {now:UInt32}
)
GROUP BY token
LIMIT {limit:UInt32}
