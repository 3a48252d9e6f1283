-- One row: a token's newest metadata. Key: address. `addresses`: hex without 0x; empty for all tokens, once per head
-- version.
SELECT
    concat('0x', lower(hex(t.address))) AS address,
    t.symbol AS symbol,
    t.name AS name,
    t.decimals AS decimals
FROM tokens AS t
WHERE t.address IN (SELECT toFixedString(unhex(arrayJoin({addresses:Array(String)})), 20)) -- if addresses
ORDER BY t.version DESC
LIMIT 1 BY t.address
LIMIT {limit:UInt32}
