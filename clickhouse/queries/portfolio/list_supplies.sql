-- Each row: minus the supply of one token as of the snapshot, in raw units, which is the balance of the zero
-- address. A transfer of a head block is added only if its ord is above last_ord of the stored balance,
-- because a promotion stores transfers before the snapshot's cursor moves. Uses the key (holder, token) of
-- holder_balances. Reads all rows of the head table, which is small. The parameter `tokens` is hex without
-- 0x.
WITH
    sender = toFixedString('', 20) AS is_mint,
    -- A transfer from the zero address to itself is a mint, not a burn: a V2 pair locks its first LP tokens
    -- this way.
    recipient = toFixedString('', 20) AND NOT is_mint AS is_burn
SELECT
    h.token AS token,
    h.balance AS balance
FROM
(
    SELECT
        token,
        maxIf(ord, stored) AS newest,
        groupArrayIf((ord, delta), NOT stored) AS moves,
        sumIf(delta, stored) + arrayReduce('sum', arrayMap((move_ord, moved) -> if(move_ord > newest, moved, 0::Int256), moves)) AS balance
    FROM
    (
        SELECT token, balance AS delta, last_ord AS ord, true AS stored
        FROM holder_balances
        WHERE holder = toFixedString('', 20)
            AND token IN (SELECT toFixedString(unhex(arrayJoin({tokens:Array(String)})), 20))
        UNION ALL
        SELECT token, if(is_mint, -(amount::Int256), amount::Int256) AS delta, ord, false AS stored
        FROM transfers_head_chain
        WHERE (is_mint OR is_burn)
            AND has({tokens:Array(String)}, lower(hex(token)))
    )
    GROUP BY token
) AS h
LIMIT {limit:UInt32}
