-- One row: how many rows token_balances holds of one token: what counting its holders will cost. Reads the first key column
-- alone, which is a few runs per token: when the counting begins, never per request.
SELECT
    concat('0x', lower(hex(b.token))) AS token,
    toUInt32(count()) AS stored
FROM token_balances AS b
GROUP BY b.token
LIMIT {limit:UInt32}
