-- The level of proof of a block is part of the row that makes the block visible. It was in the table proof_ranges, where
-- the newest of several overlapping rows was valid. That table stays, and no program reads it. The subquery computes
-- the runs of blocks of the same level: chain, first block, first block after the run, level. It cuts the chain where a
-- range begins and after each range, so all blocks from one cut to the next have one level. Then it drops each cut with
-- the same level as the cut before it. The first cut has none, so its `before` is 0, which is no level, and it stays.
-- A range of final blocks gets the weakest level of its blocks. Head blocks that are not canonical stay at the level
-- bloom.
ALTER TABLE promotions
    ADD COLUMN IF NOT EXISTS proof Enum8('bloom' = 1, 'headers' = 2, 'full' = 3) COMMENT 'Weakest level of proof of the blocks of the range, as in the setting PROOF. If a range has several done rows, the weakest level is valid' AFTER counts;
ALTER TABLE head_blocks
    ADD COLUMN IF NOT EXISTS proof Enum8('bloom' = 1, 'headers' = 2, 'full' = 3) COMMENT 'Level of proof of the rows of this block, as in the setting PROOF; bloom if there is no block at this height' AFTER final_number;
ALTER TABLE promotions
    UPDATE proof = CAST(greatest(
        toInt8(1),
        arrayMin((run_chain, begin, end, run_level) -> run_level, arrayFilter((run_chain, begin, end, run_level) -> run_chain = chain_id AND begin <= to_block AND end > from_block, (
            SELECT groupArray((chain_id, cut, next, level))
            FROM
            (
                SELECT
                    chain_id,
                    cut,
                    leadInFrame(cut, 1, toUInt64(4294967297)) OVER (
                        PARTITION BY chain_id ORDER BY cut ROWS BETWEEN CURRENT ROW AND 1 FOLLOWING
                    ) AS next,
                    level
                FROM
                (
                    SELECT
                        chain_id,
                        cut,
                        level,
                        lagInFrame(level) OVER (
                            PARTITION BY chain_id ORDER BY cut ROWS BETWEEN 1 PRECEDING AND CURRENT ROW
                        ) AS before
                    FROM
                    (
                        SELECT
                            c.chain_id AS chain_id,
                            c.cut AS cut,
                            greatest(toInt8(1), argMaxIf(toInt8(r.level), r.version, c.cut BETWEEN r.from_block AND r.to_block)) AS level
                        FROM
                        (
                            SELECT DISTINCT chain_id, arrayJoin([toUInt64(0), toUInt64(from_block), toUInt64(to_block) + 1]) AS cut
                            FROM proof_ranges
                        ) AS c
                        INNER JOIN proof_ranges AS r ON c.chain_id = r.chain_id
                        GROUP BY chain_id, cut
                    )
                )
                WHERE level != before
            )
        )))
    ), 'Enum8(''bloom'' = 1, ''headers'' = 2, ''full'' = 3)')
    WHERE kind != 'start'
    SETTINGS mutations_sync = 2, allow_nondeterministic_mutations = 1;
ALTER TABLE head_blocks
    UPDATE proof = CAST(greatest(
        toInt8(1),
        arrayMin((run_chain, begin, end, run_level) -> run_level, arrayFilter((run_chain, begin, end, run_level) -> run_chain = chain_id AND begin <= number AND end > number, (
            SELECT groupArray((chain_id, cut, next, level))
            FROM
            (
                SELECT
                    chain_id,
                    cut,
                    leadInFrame(cut, 1, toUInt64(4294967297)) OVER (
                        PARTITION BY chain_id ORDER BY cut ROWS BETWEEN CURRENT ROW AND 1 FOLLOWING
                    ) AS next,
                    level
                FROM
                (
                    SELECT
                        chain_id,
                        cut,
                        level,
                        lagInFrame(level) OVER (
                            PARTITION BY chain_id ORDER BY cut ROWS BETWEEN 1 PRECEDING AND CURRENT ROW
                        ) AS before
                    FROM
                    (
                        SELECT
                            c.chain_id AS chain_id,
                            c.cut AS cut,
                            greatest(toInt8(1), argMaxIf(toInt8(r.level), r.version, c.cut BETWEEN r.from_block AND r.to_block)) AS level
                        FROM
                        (
                            SELECT DISTINCT chain_id, arrayJoin([toUInt64(0), toUInt64(from_block), toUInt64(to_block) + 1]) AS cut
                            FROM proof_ranges
                        ) AS c
                        INNER JOIN proof_ranges AS r ON c.chain_id = r.chain_id
                        GROUP BY chain_id, cut
                    )
                )
                WHERE level != before
            )
        )))
    ), 'Enum8(''bloom'' = 1, ''headers'' = 2, ''full'' = 3)')
    WHERE commit != 0 AND (chain_id, number, version) IN (
        SELECT chain_id, number, max(version) FROM head_blocks GROUP BY chain_id, number
    )
    SETTINGS mutations_sync = 2, allow_nondeterministic_mutations = 1;
