-- One row: how many final pools, states and swaps there are up to an ord, as one text to compare. The counts of whole tables
-- are known to the engine; what is subtracted is little where `ord` is near the end. Once per head version.
SELECT concat(
    toString((SELECT count() FROM pools) - (SELECT count() FROM pools WHERE ord > {ord:UInt64})),
    ' ',
    toString((SELECT count() FROM pool_states) - (SELECT count() FROM pool_states WHERE ord > {ord:UInt64})),
    ' ',
    toString((SELECT count() FROM swaps) - (SELECT count() FROM swaps WHERE ord > {ord:UInt64}))
) AS counts
