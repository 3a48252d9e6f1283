-- One row: how many of the given commits (attempts to store a head block) still have rows in the head tables.
-- Each commit has one row in blocks_head. Uses the key (number) of blocks_head, in the given range of
-- heights. Must never scan final tables.
SELECT uniqExact(commit) AS kept
FROM blocks_head
WHERE number BETWEEN {from_block:UInt32} AND {to_block:UInt32}
    AND has({commits:Array(UInt64)}, commit)
LIMIT 1
