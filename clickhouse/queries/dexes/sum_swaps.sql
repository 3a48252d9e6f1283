-- Each row: the trading of one DEX in (since, until] of one UTC day, as of the snapshot. Uses the key ord,
-- between the blocks of these times (`after_ord`, `to_ord`). The query serves the parts of hours at both ends
-- of a time span; sum_hours serves the whole hours between them. Runs once for each new head, never for each
-- request.
SELECT
    dex,
    toUInt32(intDiv(s.timestamp, 86400) * 86400) AS day,
    toUInt32(count()) AS trades,
    toFloat64(sumIf(s.amount_usd, s.tracked)) AS volume_usd,
    toFloat64(sumIf(s.fee_usd, s.tracked)) AS fees_usd
FROM swaps_chain(fee_usd) AS s
WHERE (s.ord > {final_ord:UInt64} OR (s.ord > {after_ord:UInt64} AND s.ord <= {to_ord:UInt64}))
    AND s.timestamp > {since:UInt32}
    AND s.timestamp <= {until:UInt32}
GROUP BY dex, day
LIMIT {limit:UInt32}
