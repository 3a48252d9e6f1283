-- Each row: a balance or a count of transfers that differs between token_balances and all final transfers. Scans
-- transfers once.
SELECT
    concat('token_balances token=0x', lower(hex(token)), ' holder=0x', lower(hex(holder))) AS item,
    any(side) AS only_in,
    toString((b, n, lo)) AS value
FROM
(
    SELECT 'token_balances' AS side, token, holder, sum(balance) AS b, sum(transfers) AS n, max(last_ord) AS lo
    FROM token_balances
    GROUP BY token, holder
    UNION ALL
    SELECT 'transfers' AS side, token, holder, sum(change) AS b, count() AS n, max(ord) AS lo
    FROM
    (
        SELECT token, ord, sender AS holder, -toInt256(amount) AS change
        FROM transfers
        UNION ALL
        SELECT token, ord, recipient AS holder, toInt256(amount) AS change
        FROM transfers
        -- A transfer from the zero address to itself is a mint: it lowers the balance of the zero address and
        -- does not raise it. So this second SELECT, which adds amounts to recipients, leaves it out.
        WHERE sender != recipient OR sender != toFixedString('', 20)
    )
    GROUP BY token, holder
)
GROUP BY token, holder, b, n, lo
HAVING count() = 1
ORDER BY item, only_in
LIMIT 100
