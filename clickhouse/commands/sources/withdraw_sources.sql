-- Removes the lent source references of contracts of this chain that are verified themselves. A lent row has version
-- 0; version 1 replaces it and marks it as removed. `verified_db`: the database of the verified contracts.
INSERT INTO {verified_db:Identifier}.source_uses
    (content_hash, chain_id, address, path, contract_name, language, status, version, removed)
SELECT
    content_hash,
    chain_id,
    address,
    path,
    contract_name,
    language,
    status,
    1,
    1
FROM {verified_db:Identifier}.source_uses FINAL
WHERE chain_id = {chain_id:UInt32}
    AND version = 0
    AND address IN (SELECT address FROM {verified_db:Identifier}.verified_contracts WHERE chain_id = {chain_id:UInt32})
