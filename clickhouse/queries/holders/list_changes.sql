-- Each row: one holder whose balance of a token differs between two snapshots that differ in a few head
-- blocks. Returns the balance as of the later snapshot and the change, in raw units. A transfer of a head
-- block is added only if its ord is above last_ord of the stored balance, because a promotion stores
-- transfers before the snapshot's cursor moves. `come` lists the commits that only the later snapshot has.
-- `gone` lists the commits that only the earlier snapshot has. The parameter `tokens` is hex without 0x. Uses
-- the key (token, holder) of token_balances. Reads all rows of the head table, which is small.
WITH
    sides AS
    (
        SELECT token, commit, ord, side.1 AS holder, side.2 AS amount
        FROM
        (
            SELECT
                token,
                commit,
                ord,
                -- Both sides of a transfer: (holder, change of its balance).
                arrayJoin(if(
                    sender = recipient AND sender = toFixedString('', 20),
                    [(sender, -(amount::Int256))],
                    [(sender, -(amount::Int256)), (recipient, amount::Int256)]
                )) AS side
            FROM transfers_head
            WHERE (has({come:Array(UInt64)}, commit) OR has({gone:Array(UInt64)}, commit) OR has({commits:Array(UInt64)}, commit))
                AND token IN (SELECT toFixedString(unhex(arrayJoin({tokens:Array(String)})), 20))
        )
    ),
    moved AS
    (
        SELECT DISTINCT token, holder
        FROM sides
        WHERE has({come:Array(UInt64)}, commit) OR has({gone:Array(UInt64)}, commit)
    )
SELECT
    h.token AS token,
    h.holder AS holder,
    h.balance AS balance,
    h.change AS change
FROM
(
    SELECT
        token,
        holder,
        maxIf(ord, stored) AS newest,
        groupArrayIf((ord, amount), NOT stored AND has({commits:Array(UInt64)}, commit) AND ord > {final_ord:UInt64}) AS moves,
        sumIf(amount, stored) + arrayReduce('sum', arrayMap((move_ord, moved) -> if(move_ord > newest, moved, 0::Int256), moves)) AS balance,
        sumIf(amount, has({come:Array(UInt64)}, commit)) - sumIf(amount, has({gone:Array(UInt64)}, commit)) AS change
    FROM
    (
        SELECT token, holder, commit, ord, amount, false AS stored
        FROM sides
        WHERE (token, holder) IN moved
        UNION ALL
        -- Stored balances get the commit 0, which no head block has. So `come` and `gone` never match a
        -- stored balance.
        SELECT token, holder, 0 AS commit, last_ord AS ord, balance AS amount, true AS stored
        FROM token_balances
        WHERE (token, holder) IN moved
    )
    GROUP BY token, holder
) AS h
LIMIT {limit:UInt32}
