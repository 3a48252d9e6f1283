-- Each row: the range hash of one range of blocks, ascending.
SELECT from_block, lower(hex(a.hash)) AS hash, rows, sums
FROM audit_hashes AS a FINAL
WHERE chain_id = {chain:UInt32} AND from_block BETWEEN {from:UInt32} AND {to:UInt32}
ORDER BY from_block
LIMIT {limit:UInt32}
