-- Each row: one of the newest swaps of a token, newest first. `amount` is the amount of the token that the
-- pool received, in raw units; it is negative for a buy. Finds the swaps through the projections by_token0
-- and by_token1 of events, and reads them by the key ord of swaps. The parameter `token` is hex without 0x.
WITH
    toFixedString(unhex({token:String}), 20) AS asked,
    ords AS
    (
        SELECT ord
        FROM
        (
            -- both parts
            SELECT ord
            FROM events_chain
            WHERE token0 = toFixedString(unhex({token:String}), 20) AND kind = 'swap'
            ORDER BY ord DESC
            LIMIT {limit:UInt32}
            -- end
            UNION ALL
            -- both parts
            SELECT ord
            FROM events_chain
            WHERE token1 = toFixedString(unhex({token:String}), 20) AND kind = 'swap'
            ORDER BY ord DESC
            LIMIT {limit:UInt32}
            -- end
        )
        ORDER BY ord DESC
        LIMIT {limit:UInt32}
    )
SELECT
    s.ord,
    s.tx_index,
    s.pair,
    s.pool_type,
    s.maker,
    s.sender,
    s.recipient,
    if(s.token0 = asked, s.amount0, s.amount1) AS amount
FROM swaps_chain AS s
WHERE s.ord IN (SELECT ord FROM ords)
ORDER BY s.ord DESC
LIMIT {limit:UInt32}
