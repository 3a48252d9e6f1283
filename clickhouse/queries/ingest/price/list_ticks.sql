-- Each row: the net liquidity of one initialised tick of a V3 pool: the sum over its stored mints and burns up to the
-- newest block of the snapshot. Leaves out events that no V3 pool can emit, as tickBook.ts does. Without `pairs` (hex
-- without 0x), the result has the ticks of all pools; the ingester then scans liquidity_events, once per start.
SELECT
    t.pair AS pair,
    t.side.1 AS tick,
    sum(t.side.2) AS net
FROM
(
    SELECT
        pair,
        toInt256(assumeNotNull(liquidity)) * if(kind = 'mint', 1, -1) AS added,
        arrayJoin([(assumeNotNull(tick_lower), added), (assumeNotNull(tick_upper), -added)]) AS side
    FROM liquidity_events_chain
    WHERE pool_type = 3
        AND pair IN (SELECT toFixedString(unhex(arrayJoin({pairs:Array(String)})), 20)) -- if pairs
        AND kind IN ('mint', 'burn')
        AND liquidity > 0
        AND tick_lower >= {tick_min:Int32}
        AND tick_lower < tick_upper
        AND tick_upper <= {tick_max:Int32}
) AS t
GROUP BY t.pair, t.side.1
HAVING sum(t.side.2) != 0
ORDER BY t.pair, tick
LIMIT {limit:UInt32}
