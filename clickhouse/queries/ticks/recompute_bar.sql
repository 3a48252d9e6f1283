-- One row: the bar of one bucket over the final swaps up to the cursor; no row when there are none; columns as list_bars_*. For the moment in
-- which `bars` holds rows that the snapshot does not. Key: ord, from the bucket's first block on; at most one day.
WITH
    (
        SELECT max(number)
        FROM
        (
            SELECT number
            FROM blocks
            WHERE chain_id = {chain_id:UInt32} AND timestamp < {bucket:UInt32}
            ORDER BY chain_id DESC, number DESC
            LIMIT 1
        )
    ) AS block_before,
    if({usd:Bool}, price_usd, price) AS p
SELECT
    {bucket:UInt32} AS bucket,
    (minIf(ord, p > 0), argMinIf(p, ord, p > 0)) AS open,
    (maxIf(ord, p > 0), argMaxIf(p, ord, p > 0)) AS close,
    max(p) AS high,
    minIf(p, p > 0) AS low,
    toString(sum(abs(amount0)::UInt256)) AS volume0_text,
    toString(sum(abs(amount1)::UInt256)) AS volume1_text,
    toString(sum(amount_usd)) AS volume_usd_text,
    count() AS trades,
    countIf(NOT tracked) AS untracked,
    countIf(if(base_is_token0, amount0, amount1) < 0) AS buys,
    max(ord) AS last_ord
FROM swaps
WHERE ord > assumeNotNull(block_before) * 1048576
    AND ord <= {final_ord:UInt64}
    AND timestamp >= {bucket:UInt32}
    AND timestamp < {bucket:UInt32} + {timeframe:UInt32}
    AND pair = unhex({pair:String})
    AND leg = {leg:UInt16}
HAVING count() > 0
LIMIT 1
