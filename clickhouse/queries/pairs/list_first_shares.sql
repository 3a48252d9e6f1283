-- Each row: the protocol's parts of the swap fees of one V3 pool before its first SetFeeProtocol log, if the row was
-- written at `since` (unix milliseconds) or later. Scans pool_first_shares (one row per V3 pool with a swap), once for
-- each new head.
SELECT
    pair,
    share0,
    share1,
    version
FROM pool_first_shares
WHERE version >= {since:UInt64}
LIMIT {limit:UInt32}
