-- Each row: an address that ever sent or received one token, in ascending order of addresses, from `after`
-- on. `token` and `after` are hex without 0x. Uses the key (token, holder) of token_balances, read in order.
-- Never reads all holders of the token.
SELECT
    concat('0x', lower(hex(b.token))) AS token,
    concat('0x', lower(hex(b.holder))) AS holder
FROM token_balances AS b
WHERE b.token = unhex({token:String}) AND b.holder > toFixedString(unhex({after:String}), 20)
ORDER BY b.token, b.holder
LIMIT 1 BY b.token, b.holder
LIMIT {limit:UInt32}
