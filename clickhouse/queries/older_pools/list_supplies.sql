-- Each row: one token. The columns give its supply, and the balances of some holders, before the first
-- ingested block. They also give the balances of the zero address and of these holders that result from later
-- transfers. A transfer of a head block is added only if its ord is above last_ord of the stored balance,
-- because a promotion stores transfers before the snapshot's cursor moves. Reads all rows of token_supplies,
-- and all tokens of the zero address and of the given holders. So the program runs this query once for each
-- new head, never for each request. The parameter `holders` is hex without 0x.
WITH
    toFixedString('', 20) AS zero_address,
    arrayPushBack(arrayMap(holder_hex -> toFixedString(unhex(holder_hex), 20), {holders:Array(String)}), zero_address) AS requested_holders,
    requested AS (SELECT token FROM token_supplies)
SELECT
    s.token AS token,
    assumeNotNull(s.supply_before) AS supply_before,
    arrayZip(s.holders, s.held_before) AS held_before,
    h.zero_balance,
    h.held
FROM
(
    SELECT
        t.token AS token,
        (argMax((t.supply_before, t.holders, t.held_before), t.version) AS newest).1 AS supply_before,
        newest.2 AS holders,
        newest.3 AS held_before
    FROM token_supplies AS t
    GROUP BY t.token
) AS s
LEFT JOIN
(
    SELECT
        b.token AS token,
        sumIf(b.balance, b.holder = zero_address) AS zero_balance,
        groupArrayIf((b.holder, b.balance), b.holder != zero_address) AS held
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
    ) AS b
    GROUP BY b.token
) AS h ON h.token = s.token
WHERE isNotNull(s.supply_before)
LIMIT {limit:UInt32}
