-- Each row: the net liquidity of one initialised tick of a V3 pool, the sum over its final mints and burns. Events that no
-- pool of this kind can emit are left out, as in tickBook.ts. Scans liquidity_events once per start of the ingester.
SELECT
    concat('0x', lower(hex(t.pair))) AS pair,
    t.side.1 AS tick,
    toString(sum(t.side.2)) AS net
FROM
(
    SELECT
        pair,
        toInt256(assumeNotNull(liquidity)) * if(kind = 'mint', 1, -1) AS added,
        arrayJoin([(assumeNotNull(tick_lower), added), (assumeNotNull(tick_upper), -added)]) AS side
    FROM liquidity_events
    WHERE ord <= {final_ord:UInt64}
        AND pool_type = 3
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
