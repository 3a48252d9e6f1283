-- Each row: one range of blocks whose range hash is stored.
SELECT DISTINCT from_block
FROM audit_hashes
WHERE chain_id = {chain:UInt32} AND from_block BETWEEN {first:UInt32} AND {to:UInt32}
ORDER BY from_block
LIMIT 1000000
