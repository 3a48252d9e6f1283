-- Each row: a final contract whose creating transaction is known, while the sender of this transaction is
-- not. For a pool, the transaction comes from the factory's event. For a verified contract, it comes from the
-- verification record. Omits contracts with a row in contract_creations or a known sender in
-- created_contracts. Scans the tables of pools, creations and verifications, so only a background job of the
-- ingester runs this query.
--
-- `final_to` is the last final block. `verified_db` is the database of the verified contracts of all chains.
SELECT
    u.contract AS address,
    u.created_by AS factory,
    u.transaction AS tx_hash,
    u.pool AS is_pool
FROM
(
    SELECT address AS contract, factory::Nullable(FixedString(20)) AS created_by, assumeNotNull(created_tx) AS transaction, true AS pool
    FROM pools
    WHERE isNotNull(created_tx) AND created_block <= {final_to:UInt32}
    UNION ALL
    SELECT address AS contract, NULL AS created_by, assumeNotNull(deployment_tx) AS transaction, false AS pool
    FROM {verified_db:Identifier}.verified_contracts
    WHERE chain_id = {chain_id:UInt32} AND isNotNull(deployment_tx)
) AS u
WHERE u.contract NOT IN (SELECT address FROM contract_creations)
    AND u.contract NOT IN (SELECT address FROM created_contracts WHERE isNotNull(creator))
ORDER BY u.pool DESC, u.contract
LIMIT 1 BY u.contract
LIMIT {limit:UInt32}
