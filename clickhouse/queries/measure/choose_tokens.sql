-- Each row: a token of a pool, in the order in which tokens are measured. Tokens without a measurement come
-- first. Then come tokens whose number of swaps grew by a tenth or by `growth` since their last measurement, the
-- largest growth first. All others follow, the oldest measurement first. Reads the tables of pools, pair totals and
-- traits, once per round of the background worker.
SELECT
    p.token AS token,
    p.swaps AS swaps,
    toBool(t.version = 0) AS is_new,
    toBool(t.version > 0 AND p.swaps < t.swaps + greatest(1, least({growth:UInt32}, t.swaps / 10))) AS is_old
FROM
(
    SELECT
        token,
        toUInt64(sum(r.trades)) AS swaps
    FROM
    (
        SELECT address, arrayJoin(if(empty(tokens), [token0, token1], tokens)) AS token
        FROM pools_chain AS c
    ) AS o
    LEFT JOIN
    (
        SELECT pair, sum(swap_count) AS trades
        FROM
        (
            SELECT pair, trades AS swap_count FROM pair_totals
            UNION ALL
            SELECT pair, 1 AS swap_count
            FROM swaps_head_chain
        )
        GROUP BY pair
    ) AS r ON r.pair = o.address
    GROUP BY token
) AS p
LEFT JOIN
(
    SELECT token, swaps, version
    FROM token_traits FINAL
) AS t ON t.token = p.token
ORDER BY t.version > 0, is_old, if(is_old, 0., (p.swaps - t.swaps) / (t.swaps + 1.)) DESC, t.version, p.token
LIMIT {limit:UInt32}
