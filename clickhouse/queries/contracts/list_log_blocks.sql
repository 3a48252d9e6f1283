-- Each row: a block after `from_block` in which a contract emitted logs; at most `each` blocks of a contract, in a
-- fixed random choice. Reads all rows of the head table, which is small. With `final`, also reads all final logs of the
-- contracts by the key (chain_id, address), so the caller then asks only for contracts with few logs. The parameter
-- `addresses` is hex without 0x.
SELECT
    l.contract AS address,
    toUInt32(l.block) AS block
FROM
(
    SELECT DISTINCT address AS contract, intDiv(ord, 1048576) AS block
    FROM logs_head
    WHERE chain_id = {chain_id:UInt32}
        AND address IN (SELECT toFixedString(unhex(arrayJoin({addresses:Array(String)})), 20))
        AND ord >= ({from_block:UInt64} + 1) * 1048576
    -- if final
    UNION DISTINCT
    SELECT DISTINCT address AS contract, intDiv(ord, 1048576) AS block
    FROM logs
    WHERE chain_id = {chain_id:UInt32}
        AND address IN (SELECT toFixedString(unhex(arrayJoin({addresses:Array(String)})), 20))
    -- end
) AS l
ORDER BY cityHash64(l.contract, l.block)
LIMIT {each:UInt32} BY l.contract
LIMIT {limit:UInt32}
