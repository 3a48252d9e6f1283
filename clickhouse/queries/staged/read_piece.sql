-- One row has the blocks of one piece. Reads one partition.
SELECT body
FROM blocks
WHERE piece = {piece:UInt32}
    AND from_block <= {from:UInt32}
    AND to_block >= {to:UInt32}
LIMIT 1
