-- Each row: one stored flip (change of the head) that made a block canonical at a height of the range, newest flip
-- first. Uses the key (chain_id, number) of head_blocks, at most 20,000 rows. Must never scan all of head_blocks.
SELECT
    number,
    concat('0x', lower(hex(h.hash))) AS hash,
    concat('0x', lower(hex(h.parent_hash))) AS parent_hash,
    toString(h.commit) AS commit
FROM head_blocks AS h
WHERE h.chain_id = {chain_id:UInt32}
    AND h.number BETWEEN {from_block:UInt32} AND {to_block:UInt32}
    AND h.commit != 0
ORDER BY h.version DESC
LIMIT 20000
