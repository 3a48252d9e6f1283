-- One row: the number of matching logs, at most `most`. Reads the key ranges of `addresses` and `topics0`,
-- and stops at `most`. `addresses` and `topics0` are hex without 0x. An empty list accepts any value, but one
-- of the two must not be empty.
SELECT least(count(), {most:UInt64}) AS logs
FROM
(
    -- both parts
    SELECT 1
    FROM logs_chain
    WHERE chain_id = {chain_id:UInt32}
        AND address IN (SELECT toFixedString(unhex(arrayJoin({addresses:Array(String)})), 20)) -- if addresses
        AND topic0 IN (SELECT toFixedString(unhex(arrayJoin({topics0:Array(String)})), 32)) -- if topics0
        AND ord >= {from_ord:UInt64}
        AND ord <= {to_ord:UInt64}
    LIMIT {most:UInt64}
    -- end
)
LIMIT 1
