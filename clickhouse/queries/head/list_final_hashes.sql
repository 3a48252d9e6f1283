-- Each row: the hash of one final block, by number (at most 10,000) or by range (at most 30,000). Uses the
-- key (chain_id, number). Must never scan the table blocks.
SELECT number, hash
FROM blocks
WHERE chain_id = {chain_id:UInt32}
    AND number IN {numbers:Array(UInt32)} -- if numbers
    AND number BETWEEN {from_block:UInt32} AND {to_block:UInt32} -- if range
LIMIT 30000
