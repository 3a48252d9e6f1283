-- One row: a swap, by its ord. Key: ord. Reads only the ords it is given: `ords` of the
-- final table, `head_ords` of its twin; `both`: there are some of each. Or all of the head blocks `new_commits`.
SELECT
    'swap' AS event,
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
    concat('0x', lower(hex(e.sender))) AS sender,
    concat('0x', lower(hex(e.recipient))) AS recipient,
    toString(e.amount0) AS amount0,
    toString(e.amount1) AS amount1,
    toString(e.reserve0) AS reserve0,
    toString(e.reserve1) AS reserve1,
    toString(e.sqrt_price_x96) AS sqrt_price_x96,
    toString(e.liquidity) AS liquidity,
    tick,
    price AS raw_price,
    price_usd,
    toFloat64(e.amount_usd) AS amount_usd,
    toFloat64(e.fee_usd) AS fee_usd,
    tracked
FROM
(
    -- if ords
    SELECT *
    FROM swaps
    WHERE ord IN {ords:Array(UInt64)} AND ord <= {final_ord:UInt64}
    -- end
    -- if both
    UNION ALL
    -- end
    -- if head_ords
    SELECT * EXCEPT commit
    FROM swaps_head
    WHERE ord IN {head_ords:Array(UInt64)} AND ord > {final_ord:UInt64} AND has({commits:Array(UInt64)}, commit)
    -- end
    -- if new_commits
    SELECT * EXCEPT commit
    FROM swaps_head
    WHERE has({new_commits:Array(UInt64)}, commit) AND ord > {after_ord:UInt64} AND ord <= {to_ord:UInt64}
    -- end
) AS e
LIMIT {limit:UInt32}
