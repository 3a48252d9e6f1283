-- One row: how many of the asked commits still have their rows in the head tables (each commit has one block there).
-- Reads blocks_head in the heights' range by key (number); must never scan final tables.
SELECT uniqExact(commit) AS kept
FROM blocks_head
WHERE number BETWEEN {from_block:UInt32} AND {to_block:UInt32}
    AND has({commits:Array(UInt64)}, commit)
LIMIT 1
