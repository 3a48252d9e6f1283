-- Each row: one stored flip (change of the head) that made a block canonical at a height of the range, newest flip
-- first. Uses the key (chain_id, number) of head_blocks, at most 20,000 rows. Must never scan all of head_blocks.
SELECT
    number,
    hash,
    parent_hash,
    commit
FROM head_blocks
WHERE chain_id = {chain_id:UInt32}
    AND number BETWEEN {from_block:UInt32} AND {to_block:UInt32}
    AND commit != 0
ORDER BY version DESC
LIMIT 20000
