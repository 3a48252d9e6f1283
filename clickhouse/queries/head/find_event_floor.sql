-- One row: the ord of the event that stands right behind the newest `keep` of a filter in (after_ord, to_ord]; no row
-- when there are no more than `keep`. Newest first by ord, or by the projection by_pair where a pair is asked for.
-- `pair`, `token`, `maker`: hex without 0x, empty for any. Must never read more than keep + 1 matches of a table.
WITH
    ({maker:String} = '' OR maker = unhex({maker:String})) AS maker_fits,
    (
        {token:String} = '' OR token0 = unhex({token:String}) OR token1 = unhex({token:String})
    ) AS token_fits,
    ({pair:String} = '' OR pair = unhex({pair:String})) AS pair_fits,
    (
        ord > {after_ord:UInt64} AND ord <= {to_ord:UInt64} AND pair_fits AND token_fits AND maker_fits
    ) AS fits
SELECT toString(ord) AS ord
FROM
(
    (
        SELECT ord
        FROM swaps
        WHERE has({kinds:Array(String)}, 'swap') AND ord <= {final_ord:UInt64} AND fits
        ORDER BY ord DESC
        LIMIT {keep:UInt32} + 1
    )
    UNION ALL
    (
        SELECT ord
        FROM swaps_head
        WHERE has({kinds:Array(String)}, 'swap') AND has({commits:Array(UInt64)}, commit) AND fits
        ORDER BY ord DESC
        LIMIT {keep:UInt32} + 1
    )
)
ORDER BY ord DESC
LIMIT 1 OFFSET {keep:UInt32}
