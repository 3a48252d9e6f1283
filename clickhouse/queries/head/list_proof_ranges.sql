-- Each row: one change of the levels of proof of stored blocks, newest change first. The newest change of a
-- block is valid. Reads the few rows of the chain by key.
SELECT
    from_block,
    to_block,
    toString(p.level) AS level,
    version
FROM proof_ranges AS p
WHERE chain_id = {chain:UInt32}
ORDER BY version DESC
LIMIT {limit:UInt32}
