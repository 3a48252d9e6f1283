-- Each row: one fact about an address that a search found. The column `fact` is 1 for a pool as of the
-- snapshot, 2 for a token (only with `tokens`), 3 for a contract verified without a known code (list_verified_twins
-- finds the others). Uses the key address. Reads all rows of the head table, which is small. The parameter `addresses`
-- is hex without 0x. `verified_db` is the database of the verified contracts of all chains.
SELECT DISTINCT address, 1 AS fact
FROM pools
WHERE ord <= {final_ord:UInt64}
    AND address IN (SELECT toFixedString(unhex(arrayJoin({addresses:Array(String)})), 20))
LIMIT length({addresses:Array(String)})
-- if commits
UNION ALL
SELECT DISTINCT address, 1
FROM pools_head_chain
WHERE address IN (SELECT toFixedString(unhex(arrayJoin({addresses:Array(String)})), 20))
LIMIT length({addresses:Array(String)})
-- end
-- if tokens
UNION ALL
SELECT DISTINCT address, 2
FROM tokens
WHERE address IN (SELECT toFixedString(unhex(arrayJoin({addresses:Array(String)})), 20))
LIMIT length({addresses:Array(String)})
-- end
UNION ALL
SELECT address, 3
FROM {verified_db:Identifier}.verified_contracts
WHERE chain_id = {chain_id:UInt32}
    AND address IN (SELECT toFixedString(unhex(arrayJoin({addresses:Array(String)})), 20))
GROUP BY address
HAVING argMax(code_hash, version) = toFixedString('', 32)
    OR address NOT IN (SELECT address FROM contract_codes WHERE address IN (SELECT toFixedString(unhex(arrayJoin({addresses:Array(String)})), 20)))
LIMIT length({addresses:Array(String)})
