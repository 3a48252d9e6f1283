-- Each row: the first block of a range whose hash is not stored, ascending. Reads the ranges by the sorting key.
SELECT toUInt32(from_block) AS from_block
FROM (
    SELECT arrayJoin(range({from:UInt32}, {to:UInt32} + 1, {blocks:UInt32})) AS from_block
)
WHERE from_block NOT IN (
    SELECT from_block
    FROM audit_hashes
    WHERE chain_id = {chain:UInt32} AND from_block BETWEEN {from:UInt32} AND {to:UInt32}
)
ORDER BY from_block
LIMIT {limit:UInt32}
