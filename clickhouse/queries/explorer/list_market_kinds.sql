-- One row: that an address is a pool as of the snapshot, or, with `tokens`, that it is known as a token; RowBinary. `addresses`: hex
-- without 0x. Key: address; the head twin is small.
SELECT address, true AS is_pool
FROM pools
WHERE ord <= {final_ord:UInt64}
    AND address IN (SELECT toFixedString(unhex(arrayJoin({addresses:Array(String)})), 20))
-- if commits
UNION ALL
SELECT address, true
FROM pools_head
WHERE ord > {final_ord:UInt64}
    AND has({commits:Array(UInt64)}, commit)
    AND address IN (SELECT toFixedString(unhex(arrayJoin({addresses:Array(String)})), 20))
-- end
-- if tokens
UNION ALL
SELECT address, false
FROM tokens
WHERE address IN (SELECT toFixedString(unhex(arrayJoin({addresses:Array(String)})), 20))
-- end
