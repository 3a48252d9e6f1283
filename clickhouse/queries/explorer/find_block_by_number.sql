-- One row: the block of a number, as of the snapshot. Key (chain_id, number); the head twin is small.
SELECT
    concat('0x', lower(hex(b.hash))) AS hash,
    b.timestamp AS timestamp
FROM
(
    SELECT hash, timestamp
    FROM blocks
    WHERE chain_id = {chain_id:UInt32} AND number = {number:UInt32} AND number <= {final_to:UInt32}
    UNION ALL
    SELECT hash, timestamp
    FROM blocks_head
    WHERE chain_id = {chain_id:UInt32}
        AND number = {number:UInt32}
        AND number > {final_to:UInt32}
        AND has({commits:Array(UInt64)}, commit)
) AS b
LIMIT 1
