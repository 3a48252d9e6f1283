-- One row: the newest version of the head, or 0.
SELECT max(version) AS version
FROM head_blocks
WHERE chain_id = {chain:UInt32}
LIMIT 1
