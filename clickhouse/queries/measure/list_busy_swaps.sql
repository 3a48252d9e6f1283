-- Each row: one of the newest `limit` swaps of one token, newest first, with the columns of list_swaps. Reads the
-- projections by_token0 and by_token1 of events from their end, so it reads few rows of a token with many swaps. The
-- parameter `token` is hex without 0x.
WITH ords AS
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
        SETTINGS preferred_optimize_projection_name = 'by_token0'
        -- end
        UNION ALL
        -- both parts
        SELECT ord
        FROM events_chain
        WHERE token1 = toFixedString(unhex({token:String}), 20) AND kind = 'swap'
        ORDER BY ord DESC
        LIMIT {limit:UInt32}
        SETTINGS preferred_optimize_projection_name = 'by_token1'
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
    s.token0,
    s.token1,
    s.maker,
    s.sender,
    s.recipient,
    s.amount0,
    s.amount1
FROM swaps_chain AS s
WHERE s.ord IN (SELECT ord FROM ords)
ORDER BY s.ord DESC
LIMIT {limit:UInt32}
