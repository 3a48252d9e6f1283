-- Each row: a range of blocks and the level of proof that they were stored with, newest row first. If ranges
-- overlap, the newest one is valid. Reads the few rows of the chain by key.
SELECT
    from_block,
    to_block,
    toString(p.level) AS level,
    version
FROM proof_ranges AS p
WHERE chain_id = {chain:UInt32}
ORDER BY version DESC
LIMIT {limit:UInt32}
