-- Each row: one finished range that overlaps the blocks `from` to `to`, ascending.
SELECT from_block, to_block, to_hash
FROM promotions
WHERE chain_id = {chain:UInt32}
    AND status = 'done'
    AND kind != 'start'
    AND to_block >= {from:UInt32}
    AND from_block <= {to:UInt32}
ORDER BY from_block
LIMIT 1 BY from_block, to_block
LIMIT {limit:UInt32}
