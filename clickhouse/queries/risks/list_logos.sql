-- Each row: the logo of one token, from the imported list that has one and was imported last. Reads the tokens of one
-- chain, once per import.
SELECT
    concat('0x', lower(hex(l.address))) AS token,
    argMax(l.logo_url, (l.version, l.list)) AS logo_url
FROM listed_tokens AS l FINAL
WHERE l.chain_id = {chain_id:UInt32} AND l.logo_url != ''
GROUP BY l.address
LIMIT {limit:UInt32}
