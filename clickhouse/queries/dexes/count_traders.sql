-- Each row: the distinct makers and the swaps of one DEX in (now - 24 h, now]. The row with a null `dex` counts all
-- DEXes together. Uses the key ord, from the first block of the day (`after_ord`). Reads one day of swaps. Runs once
-- for each new head, never for each request.
SELECT
    if(grouping(slug) = 1, NULL, toString(slug)) AS dex,
    toUInt32(uniqExact(maker)) AS traders,
    toUInt32(count()) AS trades
FROM
(
    SELECT dex AS slug, maker
    FROM swaps_chain
    WHERE ord > {after_ord:UInt64} AND timestamp + 86400 > {now:UInt32}
)
GROUP BY GROUPING SETS ((slug), ())
LIMIT {limit:UInt32}
