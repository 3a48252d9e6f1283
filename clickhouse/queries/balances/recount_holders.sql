-- One row: the same as of count_holders, while token_balances holds transfers beyond the snapshot: those that a holder's
-- newest row already contains are taken off again, and who has no other is left out. token_balances is named first, so
-- that transfers is read as of no earlier moment. Key (token, holder) of token_balances, (token, ord) of transfers from the
-- final cursor on.
SELECT
    concat('0x', lower(hex(h.token))) AS token,
    toUInt32(countIf(h.balance > 0 AND h.holder != toFixedString('', 20))) AS holders,
    toUInt32(countIf(h.balance < 0 AND h.holder != toFixedString('', 20))) AS negatives,
    toUInt32(count()) AS addresses,
    toString(sumIf(h.balance, h.holder = toFixedString('', 20))) AS zero_balance,
    toString(sumIf(h.balance, h.holder = unhex('000000000000000000000000000000000000dead'))) AS dead_balance,
    arrayMap(
        negated -> toString(-negated),
        groupArraySortedIf(64)(-h.balance, h.balance > 0 AND h.holder != toFixedString('', 20))
    ) AS largest,
    false AS ahead
FROM
(
    SELECT
        token,
        holder,
        sumIf(amount, source != 'beyond') AS counted,
        maxIf(ord, source = 'stored') AS newest,
        groupArrayIf((ord, amount), source = 'beyond') AS beyond,
        counted - arrayReduce('sum', arrayMap(x -> if(x.1 <= newest, x.2, 0::Int256), beyond)) AS balance,
        sumIf(sides, source != 'beyond') - arrayCount(x -> x.1 <= newest, beyond) AS seen
    FROM
    (
        SELECT token, holder, balance AS amount, last_ord AS ord, transfers AS sides, 'stored' AS source
        FROM token_balances
        WHERE token IN (SELECT toFixedString(unhex(arrayJoin({tokens:Array(String)})), 20))
        UNION ALL
        SELECT token, side.1 AS holder, side.2 AS amount, ord, 1 AS sides, source
        FROM
        (
            SELECT
                token,
                ord,
                arrayJoin(if(
                    sender = recipient AND sender = toFixedString('', 20),
                    [(sender, -(amount::Int256))],
                    [(sender, -(amount::Int256)), (recipient, amount::Int256)]
                )) AS side,
                source
            FROM
            (
                SELECT token, ord, sender, recipient, amount, 'beyond' AS source
                FROM transfers
                WHERE ord > {final_ord:UInt64}
                    AND token IN (SELECT toFixedString(unhex(arrayJoin({tokens:Array(String)})), 20))
                UNION ALL
                SELECT token, ord, sender, recipient, amount, 'head' AS source
                FROM transfers_head
                WHERE has({commits:Array(UInt64)}, commit)
                    AND ord > {final_ord:UInt64}
                    AND token IN (SELECT toFixedString(unhex(arrayJoin({tokens:Array(String)})), 20))
            )
        )
    )
    GROUP BY token, holder
    HAVING seen > 0
) AS h
GROUP BY h.token
LIMIT {limit:UInt32}
