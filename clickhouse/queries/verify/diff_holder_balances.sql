-- Each row: a balance that differs between holder_balances and all final transfers. Scans transfers once.
SELECT
    concat('holder_balances token=0x', lower(hex(token)), ' holder=0x', lower(hex(holder))) AS item,
    any(side) AS only_in,
    toString((balance_sum, newest_ord)) AS value
FROM
(
    SELECT 'holder_balances' AS side, token, holder, sum(balance) AS balance_sum, max(last_ord) AS newest_ord
    FROM holder_balances
    GROUP BY token, holder
    UNION ALL
    SELECT 'transfers' AS side, token, holder, sum(change) AS balance_sum, max(ord) AS newest_ord
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
GROUP BY token, holder, balance_sum, newest_ord
HAVING count() = 1
ORDER BY item, only_in
LIMIT 100
