-- One row: the number of final pools, states and swaps up to an ord, as one text to compare. The engine knows the
-- counts of whole tables, and the subtracted part is small when `ord` is near the end. Run once per head version.
SELECT concat(
    toString((SELECT count() FROM pools) - (SELECT count() FROM pools WHERE ord > {ord:UInt64})),
    ' ',
    toString((SELECT count() FROM pool_states) - (SELECT count() FROM pool_states WHERE ord > {ord:UInt64})),
    ' ',
    toString((SELECT count() FROM swaps) - (SELECT count() FROM swaps WHERE ord > {ord:UInt64}))
) AS counts
LIMIT 1
