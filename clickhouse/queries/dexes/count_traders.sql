-- One row: how many makers swapped on one DEX in (now - 24 h, now]; of all together in the row whose dex is null.
-- Key: ord, from the day's first block on (`after_ord`). Reads one day of swaps: once per head version, never per request.
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
