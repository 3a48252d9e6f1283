-- One row: the hash of one final block out of those asked for (at most 10,000). Key (chain_id, number).
-- Must never scan blocks.
SELECT
    number,
    concat('0x', lower(hex(b.hash))) AS hash
FROM blocks AS b
WHERE b.chain_id = {chain_id:UInt32} AND b.number IN {numbers:Array(UInt32)}
LIMIT 10000
