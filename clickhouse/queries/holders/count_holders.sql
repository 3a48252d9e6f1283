-- Each row: the holders of one token as of the snapshot. The columns are the counts of positive and negative
-- balances, the 64 largest balances, the balance of the zero address, and the balances of watched holders.
-- The addresses in `holders` are watched for every token, the address in `creators` for the token at the same
-- place in `created`. A negative balance means that the logs do not add up. The balance of the zero address
-- is minus the supply.
--
-- A transfer of a head block is added only if its ord is above last_ord of the stored balance, because a
-- promotion stores transfers before the snapshot's cursor moves. Uses the key (token, holder) of
-- token_balances. Reads all rows of the head table, which is small, and all holders of the tokens. So the
-- program runs this query once for each new head, for the tokens that moved. A request runs it for one token only. The
-- addresses in parameters are hex without 0x. With `until_ord`, the balances are as of that ord, as in list_holders.sql.
SELECT
    h.token AS token,
    countIf(h.balance > 0 AND h.holder != toFixedString('', 20)) AS holders,
    countIf(h.balance < 0 AND h.holder != toFixedString('', 20)) AS negatives,
    count() AS addresses,
    sumIf(h.balance, h.holder = toFixedString('', 20)) AS zero_balance,
    groupArrayIf(
        (h.holder, h.balance),
        h.holder IN (SELECT toFixedString(unhex(arrayJoin({holders:Array(String)})), 20))
            OR (h.token, h.holder) IN (SELECT toFixedString(unhex(created_by.1), 20), toFixedString(unhex(created_by.2), 20) FROM (SELECT arrayJoin(arrayZip({created:Array(String)}, {creators:Array(String)})) AS created_by))
    ) AS watched,
    arrayMap(
        negated -> -negated,
        groupArraySortedIf(64)(-h.balance, h.balance > 0 AND h.holder != toFixedString('', 20))
    ) AS largest
FROM
(
    SELECT
        token,
        holder,
        maxIf(ord, stored) AS newest,
        groupArrayIf((ord, amount, undone), NOT stored) AS moves,
        sumIf(amount, stored) + arrayReduce('sum', arrayMap((move_ord, moved, is_undone) -> if((move_ord > newest) != is_undone, moved, 0::Int256), moves)) AS balance
    FROM
    (
        SELECT token, holder, balance AS amount, last_ord AS ord, true AS stored, false AS undone
        FROM token_balances
        WHERE token IN (SELECT toFixedString(unhex(arrayJoin({tokens:Array(String)})), 20))
        UNION ALL
        SELECT token, side.1 AS holder, side.2 AS amount, ord, false AS stored, false AS undone
        FROM
        (
            SELECT
                token,
                ord,
                -- Both sides of a transfer: (holder, change of its balance).
                arrayJoin(if(
                    sender = recipient AND sender = toFixedString('', 20),
                    [(sender, -(amount::Int256))],
                    [(sender, -(amount::Int256)), (recipient, amount::Int256)]
                )) AS side
            FROM transfers_head_chain
            WHERE token IN (SELECT toFixedString(unhex(arrayJoin({tokens:Array(String)})), 20))
        )
        -- if until_ord
        UNION ALL
        SELECT token, side.1 AS holder, -side.2 AS amount, ord, ord <= {final_ord:UInt64} AS stored, true AS undone
        FROM
        (
            SELECT
                token,
                ord,
                arrayJoin(if(
                    sender = recipient AND sender = toFixedString('', 20),
                    [(sender, -(amount::Int256))],
                    [(sender, -(amount::Int256)), (recipient, amount::Int256)]
                )) AS side
            FROM transfers
            WHERE token IN (SELECT toFixedString(unhex(arrayJoin({tokens:Array(String)})), 20))
                AND ord > {until_ord:UInt64}
        )
        -- end
    )
    GROUP BY token, holder
) AS h
GROUP BY h.token
LIMIT {limit:UInt32}
