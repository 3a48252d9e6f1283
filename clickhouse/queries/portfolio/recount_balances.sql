-- One row: the same as of list_balances, while holder_balances holds transfers beyond the snapshot: those that its newest
-- row of a token already contains are taken off again, key (token, ord) of transfers. It is named after holder_balances, so
-- that it is read as of no earlier moment. `tokens`: hex without 0x, empty for all; `holder`: also the zero address.
WITH
    recipient = unhex({holder:String}) AS comes,
    -- Whoever sends to itself keeps what it has; what the zero address sends to itself is minted.
    sender = unhex({holder:String}) AND (sender != recipient OR sender = toFixedString('', 20)) AS goes,
    if(goes, -(amount::Int256), if(comes AND sender != recipient, amount::Int256, 0::Int256)) AS change
SELECT
    concat('0x', lower(hex(h.token))) AS token,
    toString(h.balance) AS balance,
    false AS ahead
FROM
(
    SELECT
        token,
        sumIf(delta, source != 'beyond') AS counted,
        maxIf(ord, source = 'stored') AS newest,
        groupArrayIf((ord, delta), source = 'beyond') AS beyond,
        counted - arrayReduce('sum', arrayMap(x -> if(x.1 <= newest, x.2, 0::Int256), beyond)) AS balance
    FROM
    (
        SELECT token, balance AS delta, last_ord AS ord, 'stored' AS source
        FROM holder_balances
        WHERE holder = unhex({holder:String})
            AND (
                empty({tokens:Array(String)})
                OR token IN (SELECT toFixedString(unhex(arrayJoin({tokens:Array(String)})), 20))
            )
        UNION ALL
        SELECT token, change AS delta, ord, 'beyond' AS source
        FROM transfers
        WHERE token IN (
            SELECT token
            FROM holder_balances
            WHERE holder = unhex({holder:String})
                AND last_ord > {final_ord:UInt64}
                AND (
                    empty({tokens:Array(String)})
                    OR token IN (SELECT toFixedString(unhex(arrayJoin({tokens:Array(String)})), 20))
                )
        )
            AND ord > {final_ord:UInt64}
            AND (comes OR sender = unhex({holder:String}))
        UNION ALL
        SELECT token, change AS delta, ord, 'head' AS source
        FROM transfers_head
        WHERE has({commits:Array(UInt64)}, commit)
            AND ord > {final_ord:UInt64}
            AND (comes OR sender = unhex({holder:String}))
            AND (
                empty({tokens:Array(String)})
                OR token IN (SELECT toFixedString(unhex(arrayJoin({tokens:Array(String)})), 20))
            )
    )
    GROUP BY token
) AS h
WHERE h.balance != 0
LIMIT {limit:UInt32}
