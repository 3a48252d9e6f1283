-- Each row: one of the newest swaps of some tokens, newest first: at least the newest `limit` swaps of each token. The
-- amounts are what the pool received, in raw units; negative if it paid them. Finds the swaps through the
-- projections by_token0 and by_token1 of events, and reads them by the key ord of swaps. Reads all swaps of these
-- tokens, so callers ask for tokens with few swaps together, and use list_busy_swaps for the others. The parameter
-- `tokens` is hex without 0x.
WITH ords AS
(
    SELECT ord
    FROM
    (
        -- both parts
        SELECT token0 AS token, ord
        FROM events_chain
        WHERE token0 IN (SELECT toFixedString(unhex(arrayJoin({tokens:Array(String)})), 20)) AND kind = 'swap'
        ORDER BY ord DESC
        LIMIT {limit:UInt32} BY token0
        SETTINGS preferred_optimize_projection_name = 'by_token0'
        -- end
        UNION ALL
        -- both parts
        SELECT token1 AS token, ord
        FROM events_chain
        WHERE token1 IN (SELECT toFixedString(unhex(arrayJoin({tokens:Array(String)})), 20)) AND kind = 'swap'
        ORDER BY ord DESC
        LIMIT {limit:UInt32} BY token1
        SETTINGS preferred_optimize_projection_name = 'by_token1'
        -- end
    )
    ORDER BY ord DESC
    LIMIT {limit:UInt32} BY token
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
LIMIT {limit:UInt32} * length({tokens:Array(String)})
