-- At most one row: the block with a hash, as of the snapshot. Finds the block by the first four bytes of the
-- hash in the projection by_hash. Reads all rows of the head table, which is small. The parameter `hash` is
-- hex without 0x.
SELECT number
FROM
(
    -- both parts
    SELECT number
    FROM blocks_chain
    WHERE chain_id = {chain_id:UInt32}
        AND hash = unhex({hash:String})
        AND reinterpretAsUInt32(hash) = reinterpretAsUInt32(unhex({hash:String}))
    -- end
)
LIMIT 1
