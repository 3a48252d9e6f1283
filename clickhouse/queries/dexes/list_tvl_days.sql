-- Each row: the TVL of one DEX at the end of one UTC day. A row with an empty DEX name marks a day whose TVL was
-- computed. Uses the key day.
SELECT
    d.day AS day,
    d.dex AS dex,
    d.tvl_usd AS tvl_usd
FROM dex_days AS d FINAL
WHERE d.day >= {from:UInt32} AND d.day < {to:UInt32}
LIMIT {limit:UInt32}
