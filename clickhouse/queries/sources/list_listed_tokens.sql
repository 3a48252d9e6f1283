-- Each row: a token with a logo that an earlier import of the same token list stored. Reads the whole table
-- listed_tokens, so only imports run this query.
SELECT
    l.chain_id,
    l.address
FROM listed_tokens AS l FINAL
WHERE l.list = {list:String} AND l.logo_url != ''
LIMIT {limit:UInt32}
