-- Each row: a swap. Uses the key ord. Reads the rows with the ords `ords` from the final table and the rows with
-- the ords `head_ords` from the head table. With `last_ord`, reads instead of `ords` the final rows of `pair` from
-- `first_ord` to `last_ord`, which takes ClickHouse less time than a list. With `new_commits`, reads all rows of the
-- head blocks with these commits. The parameter `both` is true if both tables are read. The query computes nothing in
-- its columns, because planning expressions costs ClickHouse as much as reading the rows.
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
    sender,
    recipient,
    amount0,
    amount1,
    reserve0,
    reserve1,
    sqrt_price_x96,
    liquidity,
    tick,
    price,
    price_usd,
    quote_price_usd,
    amount_usd,
    fee_pips,
    tracked
FROM
(
    -- if ords
    SELECT *
    FROM swaps
    WHERE ord IN {ords:Array(UInt64)} AND ord <= {final_ord:UInt64}
        AND pair = unhex({pair:String}) -- if pair
    -- end
    -- if last_ord
    SELECT *
    FROM swaps
    WHERE pair = unhex({pair:String}) AND ord >= {first_ord:UInt64} AND ord <= {last_ord:UInt64}
    -- end
    -- if both
    UNION ALL
    -- end
    -- if head_ords
    SELECT * EXCEPT commit
    FROM swaps_head_chain
    WHERE ord IN {head_ords:Array(UInt64)}
    -- end
    -- if new_commits
    SELECT * EXCEPT commit
    FROM swaps_head
    WHERE has({new_commits:Array(UInt64)}, commit) AND ord > {after_ord:UInt64} AND ord <= {to_ord:UInt64}
    -- end
) AS e
LIMIT {limit:UInt32}
