-- Each row: one flip (change of the head) at one height, oldest flip first. A zero hash means that
-- the flip removed the block.
SELECT
    number,
    concat('0x', lower(hex(h.hash))) AS hash,
    concat('0x', lower(hex(h.parent_hash))) AS parent_hash,
    timestamp,
    commit,
    version,
    final_number,
    proof
FROM head_blocks AS h
WHERE chain_id = {chain:UInt32} AND number > {cursor:UInt32}
ORDER BY version
LIMIT {limit:UInt32}
