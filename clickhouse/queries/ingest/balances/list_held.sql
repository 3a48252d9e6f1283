-- Each row: the balance of one token at one address as of the snapshot, in raw units. `tokens[i]` and
-- `holders[i]` form a pair, in hex without 0x. A transfer of a head block is added only if its ord is above
-- last_ord of the stored balance, because a promotion stores transfers before the snapshot's cursor moves.
-- `ahead` is 1 if token_balances already contains transfers after the snapshot; such a balance belongs to no
-- block of the snapshot, so the caller cannot compare it with balanceOf at a block. Uses the key (token,
-- holder) of token_balances. Reads all rows of the head table, which is small.
WITH requested AS
(
    SELECT
        toFixedString(unhex(pair.1), 20) AS token,
        toFixedString(unhex(pair.2), 20) AS holder
    FROM (SELECT arrayJoin(arrayZip({tokens:Array(String)}, {holders:Array(String)})) AS pair)
)
SELECT
    token,
    holder,
    balance,
    toBool(newest > {tip_ord:UInt64}) AS ahead
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
        -- A token and holder without a stored row have balance 0.
        SELECT token, holder, 0::Int256 AS delta, 0::UInt64 AS ord, true AS stored
        FROM requested
        UNION ALL
        SELECT token, holder, balance AS delta, last_ord AS ord, true AS stored
        FROM token_balances
        WHERE (token, holder) IN requested
        UNION ALL
        SELECT token, side.1 AS holder, side.2 AS delta, ord, false AS stored
        FROM
        (
            SELECT
                token,
                ord,
                -- Both sides of a transfer: (holder, change of its balance).
                arrayJoin([(sender, -(amount::Int256)), (recipient, amount::Int256)]) AS side
            FROM transfers_head_chain
            WHERE token IN (SELECT token FROM requested)
        )
        WHERE (token, holder) IN requested
    )
    GROUP BY token, holder
)
LIMIT {limit:UInt32}
