-- One row: the trading of one DEX in the swaps of (since, until] of one UTC day, as of the snapshot. Key: ord, between
-- the blocks of those times (`after_ord`, `to_ord`): the caller asks for what whole hours leave over. Once per head
-- version, never per request.
SELECT
    dex,
    toUInt32(intDiv(s.timestamp, 86400) * 86400) AS day,
    toUInt32(count()) AS trades,
    toFloat64(sumIf(s.amount_usd, s.tracked)) AS volume_usd,
    toFloat64(sumIf(s.fee_usd, s.tracked)) AS fees_usd
FROM
(
    SELECT dex, timestamp, tracked, amount_usd, fee_usd
    FROM swaps
    WHERE ord > {after_ord:UInt64}
        AND ord <= least({to_ord:UInt64}, {final_ord:UInt64})
        AND timestamp > {since:UInt32}
        AND timestamp <= {until:UInt32}
    UNION ALL
    SELECT dex, timestamp, tracked, amount_usd, fee_usd
    FROM swaps_head
    WHERE has({commits:Array(UInt64)}, commit)
        AND ord > {final_ord:UInt64}
        AND timestamp > {since:UInt32}
        AND timestamp <= {until:UInt32}
) AS s
GROUP BY dex, day
LIMIT {limit:UInt32}
