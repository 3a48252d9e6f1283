-- Each row: the protocol's parts of the swap fees of one V3 pool before its first SetFeeProtocol log, if the row was
-- written at `since` (unix milliseconds) or later. Scans pool_first_shares (one row per V3 pool with a swap), once for
-- each new head.
SELECT
    concat('0x', lower(hex(f.pair))) AS pair,
    f.share0 AS share0,
    f.share1 AS share1,
    toString(f.version) AS version
FROM pool_first_shares AS f
WHERE f.version >= {since:UInt64}
LIMIT {limit:UInt32}
