-- Each row: one swap of the given pools from `from_ord` to `tip_ord`, in order. The parameter `pairs` is hex without
-- 0x. Uses the key ord. Reads at most one epoch of 32 blocks.
SELECT
    pair,
    leg,
    ord,
    amount1
FROM swaps_chain AS s
WHERE s.ord >= {from_ord:UInt64}
    AND s.ord <= {tip_ord:UInt64}
    AND s.pair IN (SELECT toFixedString(unhex(arrayJoin({pairs:Array(String)})), 20))
ORDER BY s.ord
LIMIT {limit:UInt32}
