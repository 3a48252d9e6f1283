-- One row: how many logs match, counted up to `most`. Reads the key ranges of `addresses` and `topics0` (hex without 0x, empty
-- for any; at least one of them is given), stopping at `most`.
SELECT toString(least(count(), {most:UInt64})) AS logs
FROM
(
    (
        SELECT 1
        FROM logs
        WHERE chain_id = {chain_id:UInt32}
            AND (empty({addresses:Array(String)}) OR address IN (SELECT toFixedString(unhex(arrayJoin({addresses:Array(String)})), 20)))
            AND (empty({topics0:Array(String)}) OR topic0 IN (SELECT toFixedString(unhex(arrayJoin({topics0:Array(String)})), 32)))
            AND ord >= {from_ord:UInt64}
            AND ord <= least({to_ord:UInt64}, {final_ord:UInt64})
        LIMIT {most:UInt64}
    )
    UNION ALL
    (
        SELECT 1
        FROM logs_head
        WHERE chain_id = {chain_id:UInt32}
            AND (empty({addresses:Array(String)}) OR address IN (SELECT toFixedString(unhex(arrayJoin({addresses:Array(String)})), 20)))
            AND (empty({topics0:Array(String)}) OR topic0 IN (SELECT toFixedString(unhex(arrayJoin({topics0:Array(String)})), 32)))
            AND ord > {final_ord:UInt64}
            AND ord >= {from_ord:UInt64}
            AND ord <= {to_ord:UInt64}
            AND has({commits:Array(UInt64)}, commit)
        LIMIT {most:UInt64}
    )
)
LIMIT 1
