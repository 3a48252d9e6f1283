-- Each row: an address with a positive balance of the token as of the snapshot, in raw units, largest first,
-- without the zero address. A transfer of a head block is added only if its ord is above last_ord of the
-- stored balance, because a promotion stores transfers before the snapshot's cursor moves. Uses the key
-- (token, holder) of token_balances. Reads all rows of the head table, which is small, and all holders of the
-- token. So this query must never run for lists of tokens. The parameter `token` is hex without 0x.
--
-- With `until_ord`, the balances are as of that ord: `commits` must end there, and the later final transfers, found by
-- the key (token, ord) of transfers, are undone. A final transfer above final_ord is undone only if the stored balance
-- includes it.
SELECT
    h.holder AS holder,
    h.held_balance AS balance
FROM
(
    SELECT
        holder,
        maxIf(ord, stored) AS newest,
        groupArrayIf((ord, amount, undone), NOT stored) AS moves,
        sumIf(amount, stored) + arrayReduce('sum', arrayMap((move_ord, moved, is_undone) -> if((move_ord > newest) != is_undone, moved, 0::Int256), moves)) AS held_balance
    FROM
    (
        SELECT holder, balance AS amount, last_ord AS ord, true AS stored, false AS undone
        FROM token_balances
        WHERE token = unhex({token:String})
        UNION ALL
        SELECT side.1 AS holder, side.2 AS amount, ord, false AS stored, false AS undone
        FROM
        (
            -- Both sides of a transfer: (holder, change of its balance).
            SELECT ord, arrayJoin([(sender, -(amount::Int256)), (recipient, amount::Int256)]) AS side
            FROM transfers_head_chain
            WHERE token = unhex({token:String})
        )
        -- if until_ord
        UNION ALL
        SELECT side.1 AS holder, -side.2 AS amount, ord, ord <= {final_ord:UInt64} AS stored, true AS undone
        FROM
        (
            SELECT ord, arrayJoin([(sender, -(amount::Int256)), (recipient, amount::Int256)]) AS side
            FROM transfers
            WHERE token = unhex({token:String})
                AND ord > {until_ord:UInt64}
        )
        -- end
    )
    WHERE holder != toFixedString('', 20)
    GROUP BY holder
) AS h
WHERE h.held_balance > 0
ORDER BY h.held_balance DESC, h.holder
LIMIT {limit:UInt32} OFFSET {skip:UInt32}
