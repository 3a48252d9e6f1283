-- One row: how many rows token_balances holds of one token: what counting its holders will cost. `tokens`: hex without 0x,
-- key (token); empty for all, which reads the first key column alone: when the counting begins, never per request.
SELECT
    concat('0x', lower(hex(b.token))) AS token,
    toUInt32(count()) AS stored
FROM token_balances AS b
WHERE empty({tokens:Array(String)})
    OR b.token IN (SELECT toFixedString(unhex(arrayJoin({tokens:Array(String)})), 20))
GROUP BY b.token
LIMIT {limit:UInt32}
