-- Each row: one sampled holder of one token, with a positive balance as of the snapshot, and the number of holders
-- of the token. The sample consists of the `largest` largest holders, and of `others` other holders in an order that
-- `salt` fixes. A transfer of a head block is added only if its ord is above last_ord of the stored balance,
-- because a promotion stores transfers before the snapshot's cursor moves. Uses the key (token, holder) of
-- token_balances. Reads all holders of the tokens and all rows of the head table, which is small, so the caller
-- limits the sizes of the tokens. The parameter `tokens` is hex without 0x.
SELECT
    sampled_token AS token,
    holder,
    holder_count AS holders
FROM
(
    SELECT
        sampled_token,
        holder,
        size_rank,
        holder_count,
        row_number() OVER (PARTITION BY sampled_token ORDER BY size_rank <= {largest:UInt32} DESC, cityHash64(holder, {salt:UInt64})) AS sample_order
    FROM
    (
        SELECT
            sampled_token,
            holder,
            row_number() OVER (PARTITION BY sampled_token ORDER BY held_balance DESC, holder) AS size_rank,
            count() OVER (PARTITION BY sampled_token) AS holder_count
        FROM
        (
            SELECT
                token AS sampled_token,
                holder,
                maxIf(ord, stored) AS newest,
                groupArrayIf((ord, amount), NOT stored) AS moves,
                sumIf(amount, stored) + arrayReduce('sum', arrayMap((move_ord, moved) -> if(move_ord > newest, moved, 0::Int256), moves)) AS held_balance
            FROM
            (
                SELECT token, holder, balance AS amount, last_ord AS ord, true AS stored
                FROM token_balances
                WHERE token IN (SELECT toFixedString(unhex(arrayJoin({tokens:Array(String)})), 20))
                UNION ALL
                SELECT token, side.1 AS holder, side.2 AS amount, ord, false AS stored
                FROM
                (
                    -- Both sides of a transfer: (holder, change of its balance).
                    SELECT token, ord, arrayJoin([(sender, -(amount::Int256)), (recipient, amount::Int256)]) AS side
                    FROM transfers_head_chain
                    WHERE token IN (SELECT toFixedString(unhex(arrayJoin({tokens:Array(String)})), 20))
                )
            )
            WHERE holder != toFixedString('', 20)
            GROUP BY token, holder
            HAVING held_balance > 0
        )
    )
)
WHERE sample_order <= {largest:UInt32} + {others:UInt32}
LIMIT {limit:UInt32}
