-- Each row: a V2 sync. Uses the key ord. Reads only the rows `ords` of the final table and `head_ords` of the head
-- table, or all rows of the head blocks `new_commits`. The parameter `both` says that neither list is empty. The caller
-- reads RowBinary, so the order of columns is fixed. Columns have no expressions, because planning them costs as much
-- as reading the rows.
SELECT
    ord,
    timestamp,
    pair,
    dex,
    pool_type,
    token0,
    token1,
    base_is_token0,
    tx_hash,
    maker,
    reserve0,
    reserve1
FROM
(
    -- if ords
    SELECT *
    FROM pool_states
    WHERE kind = 'sync' AND ord IN {ords:Array(UInt64)} AND ord <= {final_ord:UInt64}
    -- end
    -- if both
    UNION ALL
    -- end
    -- if head_ords
    SELECT * EXCEPT commit
    FROM pool_states_head
    WHERE kind = 'sync' AND ord IN {head_ords:Array(UInt64)} AND ord > {final_ord:UInt64} AND has({commits:Array(UInt64)}, commit)
    -- end
    -- if new_commits
    SELECT * EXCEPT commit
    FROM pool_states_head
    WHERE kind = 'sync' AND has({new_commits:Array(UInt64)}, commit) AND ord > {after_ord:UInt64} AND ord <= {to_ord:UInt64}
    -- end
) AS e
LIMIT {limit:UInt32}
