-- Each row: a final block from which on blocks have another level of proof than the blocks before, newest first. Blocks
-- before the oldest row have the level bloom. If a range has several done rows, the weakest level is valid. `levels`
-- are all levels, the weakest first. Reads the finished ranges of the chain by key, and no block.
SELECT from_block, level
FROM
(
    SELECT
        from_block,
        proof AS level,
        lagInFrame(proof) OVER (ORDER BY seq, indexOf({levels:Array(String)}, toString(proof)) DESC ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS level_before
    FROM promotions
    WHERE chain_id = {chain:UInt32} AND status = 'done' AND kind != 'start' AND to_block <= {final_to:UInt32}
) AS c
WHERE c.level != level_before
ORDER BY from_block DESC, indexOf({levels:Array(String)}, toString(c.level))
LIMIT {limit:UInt32}
