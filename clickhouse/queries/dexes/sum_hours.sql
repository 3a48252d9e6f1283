-- Each row: the trading of one DEX in the hours [from, to) of one UTC day. The hours must end before the last
-- final block of the snapshot, because later hours are not complete in dex_hours. Reads dex_hours, never
-- swaps.
SELECT
    h.dex AS dex,
    toUInt32(intDiv(h.hour, 86400) * 86400) AS day,
    toUInt32(sum(h.trades)) AS trades,
    toFloat64(sum(h.volume_usd)) AS volume_usd,
    toFloat64(sum(h.fee_usd)) AS fees_usd
FROM dex_hours AS h
WHERE h.hour >= {from:UInt32} AND h.hour < {to:UInt32}
GROUP BY dex, day
LIMIT {limit:UInt32}
