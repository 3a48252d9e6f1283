-- Each row: the net liquidity that the stored mints and burns added to one tick of a pool up to the newest block. Events
-- that no pool of this kind can emit are left out, as in tickBook.ts. The parameter `pairs` is hex without 0x.
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
    FROM liquidity_events_chain
    WHERE pair IN (SELECT toFixedString(unhex(arrayJoin({pairs:Array(String)})), 20))
        AND pool_type = 3
        AND kind IN ('mint', 'burn')
        AND liquidity > 0
        AND tick_lower >= {tick_min:Int32}
        AND tick_lower < tick_upper
        AND tick_upper <= {tick_max:Int32}
) AS t
GROUP BY t.pair, t.side.1
HAVING sum(t.side.2) != 0
LIMIT {limit:UInt32}
