-- Each row: one token and its logo. If several imported lists have a logo of the token, the last imported
-- list counts. Reads the tokens of one chain, once per import.
SELECT
    l.address AS token,
    argMax(l.logo_url, (l.version, l.list)) AS logo_url
FROM listed_tokens AS l FINAL
WHERE l.chain_id = {chain_id:UInt32} AND l.logo_url != ''
GROUP BY l.address
LIMIT {limit:UInt32}
