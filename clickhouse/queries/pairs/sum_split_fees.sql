-- Each row: the fees in USD of one pair's tracked swaps above `after_ord` and later than `since`, for one input token
-- and one part of the time: `part` counts the positions of the pair in `ords` that are below the swap. `pairs` (hex
-- without 0x) and `ords` belong together, item by item. Uses the key ord, or the projection of_pair for few pairs.
SELECT
    pair,
    toUInt32(arrayCount(start -> start < ord, starts)) AS part,
    (amount0 > 0)::Bool AS is_token0,
    toFloat64(sum(fee_usd)) AS fees
FROM
(
    SELECT pair, ord, timestamp, amount0, fee_usd, tracked
    FROM swaps_chain(fee_usd)
    WHERE ord > {after_ord:UInt64}
        AND pair IN (SELECT toFixedString(unhex(arrayJoin({pairs:Array(String)})), 20))
) AS s
INNER JOIN
(
    SELECT toFixedString(unhex(item.1), 20) AS pair, groupArray(item.2) AS starts
    FROM (SELECT arrayJoin(arrayZip({pairs:Array(String)}, {ords:Array(UInt64)})) AS item)
    GROUP BY pair
) AS c USING pair
WHERE tracked AND timestamp > {since:UInt32}
GROUP BY pair, part, is_token0
LIMIT {limit:UInt32}
