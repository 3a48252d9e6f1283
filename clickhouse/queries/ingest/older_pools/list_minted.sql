-- Each row: one token. The columns give the balances of the zero address and of the given holders at the
-- newest block, computed from the stored transfers alone. A transfer of a head block is added only if its ord
-- is above last_ord of the stored balance, because a promotion stores transfers before the snapshot's cursor
-- moves. The parameters `tokens` and `holders` are hex without 0x.
WITH
    toFixedString('', 20) AS zero_address,
    arrayPushBack(arrayMap(holder_hex -> toFixedString(unhex(holder_hex), 20), {holders:Array(String)}), zero_address) AS requested_holders,
    requested AS (SELECT toFixedString(unhex(arrayJoin({tokens:Array(String)})), 20) AS token)
SELECT
    token,
    sumIf(balance, holder = zero_address) AS zero_balance,
    groupArrayIf((holder, balance), holder != zero_address) AS held
FROM
(
    SELECT
        token,
        holder,
        maxIf(ord, stored) AS newest,
        groupArrayIf((ord, delta), NOT stored) AS moves,
        sumIf(delta, stored) + arrayReduce('sum', arrayMap((move_ord, moved) -> if(move_ord > newest, moved, 0::Int256), moves)) AS balance
    FROM
    (
        SELECT token, holder, balance AS delta, last_ord AS ord, true AS stored
        FROM holder_balances
        WHERE has(requested_holders, holder)
            AND token IN (SELECT token FROM requested)
        UNION ALL
        SELECT token, side.1 AS holder, side.2 AS delta, ord, false AS stored
        FROM
        (
            SELECT
                token,
                ord,
                -- Both sides of a transfer: (holder, change of its balance).
                arrayJoin(if(
                    sender = recipient AND sender = zero_address,
                    [(sender, -(amount::Int256))],
                    [(sender, -(amount::Int256)), (recipient, amount::Int256)]
                )) AS side
            FROM transfers_head_chain
            WHERE (has(requested_holders, sender) OR has(requested_holders, recipient))
                AND token IN (SELECT token FROM requested)
        )
        WHERE has(requested_holders, side.1)
    )
    GROUP BY token, holder
)
GROUP BY token
LIMIT {limit:UInt32}
