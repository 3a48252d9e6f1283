-- At most one row: the last final block of a chain, and all stored flips (changes of the head) at the heights
-- above. The caller computes the canonical blocks from the flips. `logs_from` is the first
-- block from which on all raw logs are stored, or null while only some are. A chain without a stored block has no row.
-- Reads the first and the last row of promotions by key (chain_id, seq), then head_blocks by key (chain_id,
-- number) above the last final block. Must never scan all of either table.
WITH
    -- Number of rows, seq, and block number, hash and timestamp of the last final block.
    (
        SELECT tuple(count(), any(seq), any(to_block), any(to_hash), any(to_timestamp))
        FROM
        (
            SELECT seq, to_block, to_hash, to_timestamp
            FROM promotions
            WHERE chain_id = {chain_id:UInt32} AND status = 'done'
            ORDER BY chain_id DESC, seq DESC, status DESC
            LIMIT 1
        )
    ) AS cursor,
    (
        SELECT any(from_block)
        FROM
        (
            SELECT from_block
            FROM promotions
            WHERE chain_id = {chain_id:UInt32} AND status = 'done'
            ORDER BY chain_id, seq, status
            LIMIT 1
        )
    ) AS start,
    -- First block whose logs are not pruned, number of changes of EXPLORER, and the newest of them: (block, 1 if all raw
    -- logs are stored from this block on). A change has the name explorer.<block>: the block starts at character 10.
    (
        SELECT tuple(any(floors), any(changes), any(newest))
        FROM
        (
            SELECT
                maxIf(value, name = 'floor.logs') AS floors,
                countIf(startsWith(name, 'explorer.')) AS changes,
                argMaxIf(tuple(toUInt32OrZero(substring(name, 10)), value), toUInt32OrZero(substring(name, 10)), startsWith(name, 'explorer.')) AS newest
            FROM (SELECT o.name AS name, argMax(o.value, o.version) AS value FROM operations AS o GROUP BY o.name)
        )
    ) AS kept,
    kept.1 AS logs_floor,
    kept.2 > 0 AS has_explorer_changes,
    kept.3.1 AS newest_change_block,
    kept.3.2 = 0 AS keeps_some_logs
SELECT
    assumeNotNull(cursor.2) AS seq,
    assumeNotNull(cursor.3) AS final_to,
    assumeNotNull(cursor.4) AS final_hash,
    assumeNotNull(cursor.5) AS final_timestamp,
    ifNull(start, 0) AS start_block,
    if(has_explorer_changes AND keeps_some_logs, NULL, toUInt32(greatest(logs_floor, if(has_explorer_changes, newest_change_block, 0), ifNull(start, 0)))) AS logs_from,
    groupArray(tuple(
        h.number, h.version, h.hash, h.parent_hash, h.timestamp, h.commit, h.final_number, h.proof
    )) AS heights
FROM head_blocks AS h
WHERE h.chain_id = {chain_id:UInt32} AND h.number > cursor.3
HAVING cursor.1 > 0
LIMIT 1
