-- Each row: a token's newest metadata. Uses the key address. `addresses` are hex without 0x. An empty list returns
-- all tokens; the program does this once for each new head.
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
