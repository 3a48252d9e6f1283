-- Each row: a contract and the number of its logs up to `final_ord`, by address. The caller reads RowBinary.
-- Reads the projection by_contract. During a promotion, its counts already include logs above final_ord. The
-- query subtracts these few logs, which it reads through the projection by_ord. Must never scan the logs.
SELECT address, toUInt64(greatest(sum(e.logs), 0)) AS logs
FROM
(
    SELECT address, toInt64(count()) AS logs
    FROM logs
    WHERE chain_id = {chain_id:UInt32}
    GROUP BY chain_id, address
    UNION ALL
    SELECT address, -toInt64(count()) AS logs
    FROM logs
    WHERE chain_id = {chain_id:UInt32} AND ord > {final_ord:UInt64}
    GROUP BY address
) AS e
GROUP BY address
ORDER BY address
LIMIT {limit:UInt32}
