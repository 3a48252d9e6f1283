-- One row: the largest version in head_blocks, which is the version of the newest flip (change of the head),
-- or 0 without a flip.
SELECT max(version) AS version
FROM head_blocks
WHERE chain_id = {chain:UInt32}
LIMIT 1
