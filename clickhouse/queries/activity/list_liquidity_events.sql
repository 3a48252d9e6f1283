-- Each row: a mint or burn. Uses the key ord. Reads the rows with the ords `ords` from the final table and
-- the rows with the ords `head_ords` from the head table. With `new_commits`, reads instead all rows of the
-- head blocks with these commits. The parameter `both` is true if `ords` and `head_ords` are both non-empty.
SELECT
    kind,
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
    owner,
    amount0,
    amount1,
    liquidity,
    tick_lower,
    tick_upper,
    amount0_usd,
    amount1_usd,
    trust,
    others_usd
FROM
(
    -- if ords
    SELECT *
    FROM liquidity_events
    WHERE ord IN {ords:Array(UInt64)} AND ord <= {final_ord:UInt64}
    -- end
    -- if both
    UNION ALL
    -- end
    -- if head_ords
    SELECT * EXCEPT commit
    FROM liquidity_events_head_chain
    WHERE ord IN {head_ords:Array(UInt64)}
    -- end
    -- if new_commits
    SELECT * EXCEPT commit
    FROM liquidity_events_head
    WHERE kind IN ('mint', 'burn') AND has({new_commits:Array(UInt64)}, commit) AND ord > {after_ord:UInt64} AND ord <= {to_ord:UInt64}
    -- end
) AS e
LIMIT {limit:UInt32}
