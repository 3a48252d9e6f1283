-- Each row: the stored metadata of one token. `complete` means that all of it is known; the texts of such a token are
-- then left out (null). Reads the whole table once, when the ingester starts. The caller throws if the answer reaches
-- the limit.
WITH
    argMax(tuple(t.symbol, t.name, t.decimals), t.version) AS newest,
    -- In versions from 2^32 on, this bit means that the decimals changed and are unknown for ever.
    bitAnd(bitShiftRight(max(t.version), 32), 1) = 1 AS is_changed
SELECT
    address,
    toBool(isNotNull(newest.1) AND isNotNull(newest.2) AND (isNotNull(newest.3) OR is_changed)) AS complete,
    if(complete, NULL, newest.1) AS symbol,
    if(complete, NULL, newest.2) AS name,
    newest.3 AS decimals,
    max(t.version) AS version
FROM tokens AS t
GROUP BY address
LIMIT {limit:UInt32}
