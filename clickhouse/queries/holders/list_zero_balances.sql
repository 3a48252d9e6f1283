-- Each row: the LP tokens of one constant-product pool at the zero address, as of the snapshot, in raw units.
-- The pool itself burns LP tokens only from its own address: its Transfer has the pool as the sender. Any
-- other transfer to the zero address lowers no supply. `held` is the balance of the zero address in the
-- contract. `sent` is the part that holders sent, without the first 1,000 units, which the pool mints to the
-- zero address.
--
-- The parameter `tokens` is hex without 0x. Uses the key (token, ord) of transfers and reads all transfers of
-- the tokens. The program runs this query once for each new head, for the tokens that moved. A promotion
-- stores transfers before the snapshot's cursor moves, so final rows above final_ord do not count.
SELECT
    t.token AS token,
    sum(t.amount) AS held,
    sumIf(t.amount, t.sender != toFixedString('', 20)) AS sent
FROM
(
    SELECT token, sender, amount
    FROM transfers
    WHERE token IN (SELECT toFixedString(unhex(arrayJoin({tokens:Array(String)})), 20))
        AND ord <= {final_ord:UInt64}
        AND recipient = toFixedString('', 20)
        AND sender != token
    UNION ALL
    SELECT token, sender, amount
    FROM transfers_head_chain
    WHERE token IN (SELECT toFixedString(unhex(arrayJoin({tokens:Array(String)})), 20))
        AND recipient = toFixedString('', 20)
        AND sender != token
) AS t
GROUP BY t.token
LIMIT {limit:UInt32}
