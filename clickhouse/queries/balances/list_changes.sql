-- One row: one holder of one of the asked tokens whose balance differs between two snapshots that differ in a few head blocks:
-- its balance as of the later one, and by how much it moved, raw units. `come`, `gone`: commits of the blocks that only the
-- later, only the earlier one has. `ahead`: token_balances holds transfers beyond the snapshot, the balance is of no block.
-- Reads the head twin, which is small, and key (token, holder) of token_balances. `tokens`: hex without 0x.
WITH
    sides AS
    (
        SELECT token, commit, ord, side.1 AS holder, side.2 AS amount
        FROM
        (
            SELECT
                token,
                commit,
                ord,
                arrayJoin(if(
                    sender = recipient AND sender = toFixedString('', 20),
                    [(sender, -(amount::Int256))],
                    [(sender, -(amount::Int256)), (recipient, amount::Int256)]
                )) AS side
            FROM transfers_head
            WHERE (has({come:Array(UInt64)}, commit) OR has({gone:Array(UInt64)}, commit) OR has({commits:Array(UInt64)}, commit))
                AND token IN (SELECT toFixedString(unhex(arrayJoin({tokens:Array(String)})), 20))
        )
    ),
    moved AS
    (
        SELECT DISTINCT token, holder
        FROM sides
        WHERE has({come:Array(UInt64)}, commit) OR has({gone:Array(UInt64)}, commit)
    )
SELECT
    concat('0x', lower(hex(h.token))) AS token,
    concat('0x', lower(hex(h.holder))) AS holder,
    toString(sum(h.amount)) AS balance,
    toString(sum(h.change)) AS change,
    toBool(max(h.last_ord) > {final_ord:UInt64}) AS ahead
FROM
(
    SELECT
        token,
        holder,
        if(has({commits:Array(UInt64)}, commit) AND ord > {final_ord:UInt64}, amount, 0::Int256) AS amount,
        if(has({come:Array(UInt64)}, commit), sides.amount, 0::Int256) - if(has({gone:Array(UInt64)}, commit), sides.amount, 0::Int256) AS change,
        0::UInt64 AS last_ord
    FROM sides
    WHERE (token, holder) IN moved
    UNION ALL
    SELECT token, holder, balance AS amount, 0::Int256 AS change, last_ord
    FROM token_balances
    WHERE (token, holder) IN moved
) AS h
GROUP BY h.token, h.holder
LIMIT {limit:UInt32}
