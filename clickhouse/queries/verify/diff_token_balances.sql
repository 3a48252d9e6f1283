-- Each row: a balance or a count of transfers that differs between token_balances and all final transfers. Scans
-- transfers once.
SELECT
    concat('token_balances token=0x', lower(hex(token)), ' holder=0x', lower(hex(holder))) AS item,
    any(side) AS only_in,
    toString((balance_sum, transfer_count, newest_ord)) AS value
FROM
(
    SELECT 'token_balances' AS side, token, holder, sum(balance) AS balance_sum, sum(transfers) AS transfer_count, max(last_ord) AS newest_ord
    FROM token_balances
    GROUP BY token, holder
    UNION ALL
    SELECT 'transfers' AS side, token, holder, sum(change) AS balance_sum, count() AS transfer_count, max(ord) AS newest_ord
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
GROUP BY token, holder, balance_sum, transfer_count, newest_ord
HAVING count() = 1
ORDER BY item, only_in
LIMIT 100
