-- Each row: a final hop of a token, with the token's previous hop, newest first. Reads the key ord over the whole of
-- (after_ord, to_ord]. With `sparse`, finds the rows through the projection by_token instead. The caller chooses the
-- way that reads fewer rows of other tokens.
SELECT
    ord,
    timestamp,
    next_token,
    hop_price,
    previous_next_token,
    previous_hop_price
FROM token_prices AS p
WHERE p.ord > {after_ord:UInt64}
    AND p.ord <= {to_ord:UInt64}
    AND p.token = unhex({token:String})
    -- if sparse
    AND p.ord IN (
        SELECT ord
        FROM token_prices
        WHERE token = unhex({token:String}) AND ord > {after_ord:UInt64} AND ord <= {to_ord:UInt64}
    )
    -- end
ORDER BY p.ord DESC
LIMIT {limit:UInt32}
