-- Each row: one flip (change of the head) at one height, oldest flip first. A zero hash means that
-- the flip removed the block.
SELECT
    number,
    hash,
    parent_hash,
    timestamp,
    commit,
    version,
    final_number,
    proof
FROM head_blocks
WHERE chain_id = {chain:UInt32} AND number > {cursor:UInt32}
ORDER BY version
LIMIT {limit:UInt32}
