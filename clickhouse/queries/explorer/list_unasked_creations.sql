-- One row: a contract whose creating transaction is known and whose sender is not, and was not asked for: a pool by its factory's
-- event, or a verified contract by what the source of its verification says. Final ones only. Reads the tables of pools, creations
-- and verifications: for now and then, beside the ingester. `final_to`: last final block. Verified contracts of all chains stand
-- in the database `verified_db`.
SELECT
    concat('0x', lower(hex(u.contract))) AS address,
    if(isNull(u.maker), NULL, concat('0x', lower(hex(assumeNotNull(u.maker))))) AS factory,
    concat('0x', lower(hex(u.transaction))) AS tx_hash,
    u.pool AS is_pool
FROM
(
    SELECT address AS contract, factory::Nullable(FixedString(20)) AS maker, assumeNotNull(created_tx) AS transaction, true AS pool
    FROM pools
    WHERE isNotNull(created_tx) AND created_block <= {final_to:UInt32}
    UNION ALL
    SELECT address AS contract, NULL AS maker, assumeNotNull(deployment_tx) AS transaction, false AS pool
    FROM {verified_db:Identifier}.verified_contracts
    WHERE chain_id = {chain_id:UInt32} AND isNotNull(deployment_tx)
) AS u
WHERE u.contract NOT IN (SELECT address FROM contract_creations)
    AND u.contract NOT IN (SELECT address FROM created_contracts WHERE isNotNull(creator))
ORDER BY u.pool DESC, u.contract
LIMIT 1 BY u.contract
LIMIT {limit:UInt32}
