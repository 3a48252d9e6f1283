-- One row: the newest version of the head; 0 where there is none.
SELECT max(version) AS version
FROM head_blocks
WHERE chain_id = {chain:UInt32}
