-- Each row: an address of a contract whose code the ingester has not read from the node yet. Only a
-- background job of the ingester runs this query. Reads the projection by_contract for all contracts, and
-- scans the tables of creations, pools, tokens, codes and verifications. `verified_db` is the database of the
-- verified contracts of all chains.
SELECT contract AS address
FROM
(
    SELECT address AS contract
    FROM logs
    WHERE chain_id = {chain_id:UInt32}
    GROUP BY chain_id, address
    UNION DISTINCT
    SELECT address FROM created_contracts
    UNION DISTINCT
    SELECT address FROM pools
    UNION DISTINCT
    SELECT address FROM tokens
    UNION DISTINCT
    SELECT address FROM contract_creations WHERE isNotNull(creator)
    UNION DISTINCT
    SELECT address FROM {verified_db:Identifier}.verified_contracts WHERE chain_id = {chain_id:UInt32}
    UNION DISTINCT
    SELECT implementation FROM contract_codes WHERE implementation != toFixedString('', 20)
    UNION DISTINCT
    SELECT beacon FROM contract_codes WHERE beacon != toFixedString('', 20)
)
WHERE contract NOT IN (SELECT address FROM contract_codes)
ORDER BY contract
LIMIT {limit:UInt32}
