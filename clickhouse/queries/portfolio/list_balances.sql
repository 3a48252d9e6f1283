-- Each row: the balance of one token at one address as of the snapshot, in raw units. A negative balance
-- means that the logs do not add up. A transfer of a head block is added only if its ord is above last_ord of
-- the stored balance, because a promotion stores transfers before the snapshot's cursor moves. Uses the key
-- (holder) of holder_balances. Reads all rows of the head table, which is small.
--
-- One extra row has the zero address as token. Its balance is the number of V3 positions that the address
-- ever received, perhaps including some after the snapshot. If this number is 0, the address owns no
-- position. The number is_received from the key (owner) of owner_positions.
WITH
    recipient = unhex({holder:String}) AS is_received,
    sender = unhex({holder:String}) AS is_sent
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
        WHERE holder = unhex({holder:String})
        UNION ALL
        SELECT
            token,
            -- If the holder sends tokens to itself, the two amounts cancel out.
            if(is_received, amount::Int256, 0::Int256) - if(is_sent, amount::Int256, 0::Int256) AS delta,
            ord,
            false AS stored
        FROM transfers_head_chain
        WHERE (is_received OR is_sent)
        UNION ALL
        SELECT toFixedString('', 20) AS token, count()::Int256 AS delta, 0 AS ord, true AS stored
        FROM owner_positions
        WHERE owner = unhex({holder:String})
        UNION ALL
        SELECT toFixedString('', 20) AS token, count()::Int256 AS delta, 0 AS ord, true AS stored
        FROM position_events_head_chain AS p
        WHERE kind = 'transfer'
            AND recipient = unhex({holder:String})
    )
    GROUP BY token
) AS h
LIMIT {limit:UInt32}
