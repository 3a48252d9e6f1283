-- One row: the numbers of final pools, states and swaps up to an ord, as one text that callers compare with
-- the text of an earlier call. ClickHouse knows the row counts of whole tables. The query subtracts the rows
-- after `ord`, which are few. Runs once for each new head.
SELECT assumeNotNull(concat(
    (SELECT count() FROM pools) - (SELECT count() FROM pools WHERE ord > {ord:UInt64}),
    ' ',
    (SELECT count() FROM pool_states) - (SELECT count() FROM pool_states WHERE ord > {ord:UInt64}),
    ' ',
    (SELECT count() FROM swaps) - (SELECT count() FROM swaps WHERE ord > {ord:UInt64})
)) AS counts
LIMIT 1
