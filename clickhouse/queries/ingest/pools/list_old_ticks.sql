-- Each row: the ticks of one V3 pool from before the start block. If a pool has several rows, the row with the smallest
-- from_block is returned. Scans old_ticks, once per start of the ingester. The caller throws if the answer reaches the
-- limit.
SELECT
    pair,
    min(o.from_block) AS from_block,
    argMin(o.low, o.from_block) AS low,
    argMin(o.high, o.from_block) AS high,
    argMin(o.ticks, o.from_block) AS ticks,
    argMin(o.nets, o.from_block) AS nets
FROM old_ticks AS o
GROUP BY pair
LIMIT {limit:UInt32}
