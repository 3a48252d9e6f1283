-- Each row: the tokens with transfers in one head block. Reads the head table, which is small, for the given commits.
SELECT
    commit,
    groupUniqArray(token) AS tokens
FROM transfers_head
WHERE has({commits:Array(UInt64)}, commit)
GROUP BY commit
LIMIT {limit:UInt32}
