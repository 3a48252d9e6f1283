-- Removes copied source references of contracts that now have a verification of their own on this chain. A
-- copied row has version 0; a row with version 1 replaces it and marks it as removed. `verified_db` is the
-- database of the verified contracts of all chains.
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
