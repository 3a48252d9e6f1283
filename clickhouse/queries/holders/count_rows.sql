-- Each row: the number of rows of one token in token_balances. Counting the holders of the token reads all
-- these rows. Uses the key (token). The parameter `tokens` is hex without 0x. If `tokens` is empty, the query
-- counts all tokens and reads the whole first key column. Only the start of the program passes an empty list,
-- never a request.
SELECT
    b.token AS token,
    count() AS stored
FROM token_balances AS b
WHERE empty({tokens:Array(String)})
    OR b.token IN (SELECT toFixedString(unhex(arrayJoin({tokens:Array(String)})), 20))
GROUP BY b.token
LIMIT {limit:UInt32}
