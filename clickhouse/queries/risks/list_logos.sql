-- Each row: the logo of one token of an imported list. Reads the tokens of one chain, once per head version.
SELECT
    concat('0x', lower(hex(l.address))) AS token,
    l.logo_url AS logo_url
FROM listed_tokens AS l FINAL
WHERE l.chain_id = {chain_id:UInt32} AND l.logo_url != ''
LIMIT {limit:UInt32}
