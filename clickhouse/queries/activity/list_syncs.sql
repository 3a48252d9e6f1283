-- Each row: a V2 sync from `first_ord` to `last_ord`, in no order. Uses the key ord, or with `pair` (hex without 0x)
-- the projection of_pair. With `ords`, returns only the rows with these ords; ClickHouse needs less time without them.
-- The columns are named at the table, because ClickHouse takes longer to plan a subquery with all columns of a table.
-- both parts
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
FROM pool_states_chain
WHERE ord >= {first_ord:UInt64} AND ord <= {last_ord:UInt64}
    AND kind = 'sync'
    AND pair = unhex({pair:String}) -- if pair
    AND ord IN {ords:Array(UInt64)} -- if ords
LIMIT {limit:UInt32}
-- end
