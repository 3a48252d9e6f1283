-- Each row: a token's newest metadata. Uses the key address. `addresses` are hex without 0x. An empty list returns
-- all tokens; the program does this once for each new head.
SELECT
    address,
    symbol,
    name,
    decimals
FROM tokens
WHERE address IN (SELECT toFixedString(unhex(arrayJoin({addresses:Array(String)})), 20)) -- if addresses
ORDER BY version DESC
LIMIT 1 BY address
LIMIT {limit:UInt32}
