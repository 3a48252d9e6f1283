-- Each row: the further outputs of the compiler for one verification. `match_id` is its version. Uses the key
-- (chain_id, address) of both tables. The parameter `address` is hex without 0x.
SELECT o.outputs
FROM
(
    SELECT outputs
    FROM verified_contracts
    WHERE chain_id = {chain_id:UInt32}
        AND address = unhex({address:String})
        AND version = {match_id:UInt64}
    LIMIT 1
    UNION ALL
    SELECT outputs
    FROM verified_codes
    WHERE chain_id = {chain_id:UInt32}
        AND address = unhex({address:String})
        AND version = {match_id:UInt64}
    LIMIT 1
) AS o
LIMIT 1
