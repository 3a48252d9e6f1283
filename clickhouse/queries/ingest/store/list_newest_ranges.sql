-- At most two rows: the newest finished range and the newest intent (a range that was begun). The query has
-- two parts, because restarts can leave many unfinished intents above the newest finished range. A range that was begun
-- again has several intents. The weakest level of proof is valid. `levels` are all levels, the weakest first.
SELECT *
FROM
(
    SELECT seq, status, kind, from_block, to_block, to_hash, to_timestamp, counts, proof
    FROM promotions AS p
    WHERE chain_id = {chain:UInt32} AND status = 'done'
    ORDER BY p.chain_id DESC, p.seq DESC, p.status DESC
    LIMIT 1
)
LIMIT 1
UNION ALL
SELECT *
FROM
(
    SELECT seq, status, kind, from_block, to_block, to_hash, to_timestamp, counts, proof
    FROM promotions AS p
    WHERE chain_id = {chain:UInt32} AND status = 'intent'
    ORDER BY p.chain_id DESC, p.seq DESC, p.status DESC, indexOf({levels:Array(String)}, toString(p.proof))
    LIMIT 1
)
LIMIT 1
