-- Each row: a final block of one day whose rows in events do not match swaps, liquidity_events and
-- pool_states. Reads the four tables by ord.
SELECT
    concat('events block ', toString(number)) AS item,
    any(side) AS only_in,
    toString((row_count, digest)) AS value
FROM
(
    SELECT
        'events' AS side,
        intDiv(ord, 1048576) AS number,
        count() AS row_count,
        sum(sipHash64(tuple(ord, toString(kind), pair, token0, token1, maker))) AS digest
    FROM events
    WHERE ord >= {first_ord:UInt64} AND ord <= {last_ord:UInt64}
    GROUP BY number
    UNION ALL
    SELECT
        'swaps, liquidity_events and pool_states' AS side,
        intDiv(ord, 1048576) AS number,
        count() AS row_count,
        sum(sipHash64(tuple(ord, kind, pair, token0, token1, maker))) AS digest
    FROM
    (
        SELECT ord, 'swap' AS kind, pair, token0, token1, maker
        FROM swaps
        WHERE ord >= {first_ord:UInt64} AND ord <= {last_ord:UInt64}
        UNION ALL
        SELECT ord, toString(kind) AS kind, pair, token0, token1, maker
        FROM liquidity_events AS e
        WHERE ord >= {first_ord:UInt64} AND ord <= {last_ord:UInt64} AND e.kind IN ('mint', 'burn')
        UNION ALL
        SELECT ord, 'sync' AS kind, pair, token0, token1, maker
        FROM pool_states AS s
        WHERE ord >= {first_ord:UInt64} AND ord <= {last_ord:UInt64} AND s.kind = 'sync'
    )
    GROUP BY number
)
GROUP BY number, row_count, digest
HAVING count() = 1
ORDER BY number, only_in
LIMIT 100
