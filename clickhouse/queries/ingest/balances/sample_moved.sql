-- Each row: one address that sent or received one token in the given head blocks. Rows alternate between tokens: first
-- one address of each token, then a second address of each token. `salt` fixes the order. Reads the head table, which
-- is small. The query leaves out the tokens `marked` (marked as rebasing), in hex without 0x.
SELECT
    token,
    holder
FROM
(
    SELECT
        token,
        holder,
        cityHash64(token, holder, {salt:UInt64}) AS random_order,
        row_number() OVER (PARTITION BY token ORDER BY random_order) AS turn
    FROM
    (
        SELECT DISTINCT token, arrayJoin([sender, recipient]) AS holder
        FROM transfers_head
        WHERE has({commits:Array(UInt64)}, commit)
            AND NOT has({marked:Array(String)}, lower(hex(token)))
    )
    WHERE holder != toFixedString('', 20)
)
ORDER BY turn, random_order
LIMIT {limit:UInt32}
