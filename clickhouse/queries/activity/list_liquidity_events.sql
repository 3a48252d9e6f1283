-- Each row: a mint or burn. Uses the key ord. Reads the rows with the ords `ords` from the final table and
-- the rows with the ords `head_ords` from the head table. With `new_commits`, reads instead all rows of the
-- head blocks with these commits. The parameter `both` is true if `ords` and `head_ords` are both non-empty.
SELECT
    toString(kind) AS event,
    toString(e.ord) AS ord,
    timestamp,
    concat('0x', lower(hex(e.pair))) AS pair,
    dex,
    pool_type,
    concat('0x', lower(hex(e.token0))) AS token0,
    concat('0x', lower(hex(e.token1))) AS token1,
    base_is_token0,
    concat('0x', lower(hex(e.tx_hash))) AS tx_hash,
    if(isNull(e.maker), NULL, concat('0x', lower(hex(e.maker)))) AS maker,
    concat('0x', lower(hex(e.owner))) AS owner,
    toString(e.amount0) AS amount0,
    toString(e.amount1) AS amount1,
    toString(e.liquidity) AS liquidity,
    tick_lower,
    tick_upper,
    toString(e.amount0_usd) AS amount0_usd,
    toString(e.amount1_usd) AS amount1_usd,
    trust,
    toString(e.others_usd) AS others_usd
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
    FROM liquidity_events_head
    WHERE ord IN {head_ords:Array(UInt64)} AND ord > {final_ord:UInt64} AND has({commits:Array(UInt64)}, commit)
    -- end
    -- if new_commits
    SELECT * EXCEPT commit
    FROM liquidity_events_head
    WHERE kind IN ('mint', 'burn') AND has({new_commits:Array(UInt64)}, commit) AND ord > {after_ord:UInt64} AND ord <= {to_ord:UInt64}
    -- end
) AS e
LIMIT {limit:UInt32}
