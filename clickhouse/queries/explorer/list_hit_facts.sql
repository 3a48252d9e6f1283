-- One row: one thing that is known of an address that a search found; RowBinary, as search.ts reads it. `fact`: 1 it is a pool as
-- of the snapshot, 2 it is a token (asked with `tokens`), 3 its own verification is stored. Key: address; the head twin is small.
-- `addresses`: hex without 0x. Verified contracts of all chains stand in the database `verified_db`.
SELECT address, 1 AS fact
FROM pools
WHERE ord <= {final_ord:UInt64}
    AND address IN (SELECT toFixedString(unhex(arrayJoin({addresses:Array(String)})), 20))
-- if commits
UNION ALL
SELECT address, 1
FROM pools_head
WHERE ord > {final_ord:UInt64}
    AND has({commits:Array(UInt64)}, commit)
    AND address IN (SELECT toFixedString(unhex(arrayJoin({addresses:Array(String)})), 20))
-- end
-- if tokens
UNION ALL
SELECT address, 2
FROM tokens
WHERE address IN (SELECT toFixedString(unhex(arrayJoin({addresses:Array(String)})), 20))
-- end
UNION ALL
SELECT address, 3
FROM {verified_db:Identifier}.verified_contracts
WHERE chain_id = {chain_id:UInt32}
    AND address IN (SELECT toFixedString(unhex(arrayJoin({addresses:Array(String)})), 20))
