-- One row: the newest metadata of one token of one pool as of the snapshot; asked beside find_pool. Key: address of pools
-- and of tokens.
SELECT
    concat('0x', lower(hex(t.address))) AS address,
    t.symbol AS symbol,
    t.name AS name,
    t.decimals AS decimals
FROM tokens AS t
WHERE t.address IN (
    SELECT arrayJoin(if(empty(p.tokens), [p.token0, p.token1], p.tokens))
    FROM pools_chain AS p
    WHERE p.address = unhex({pair:String})
)
ORDER BY t.version DESC
LIMIT 1 BY t.address
LIMIT {limit:UInt32}
