-- Copies source references of verified contracts on other chains (lenders) to contracts with the same code on
-- this chain (twins), so that a source search finds the twins too. Copied rows have version 0, which is
-- smaller than the version of any verification of the twin itself (unix microseconds). The parameters
-- `lenders` and `twins` are addresses in hex without 0x. `verified_db` is the database of the verified
-- contracts of all chains.
INSERT INTO {verified_db:Identifier}.source_uses
    (content_hash, chain_id, address, path, contract_name, language, status, version, removed)
SELECT
    u.content_hash,
    {chain_id:UInt32},
    l.twin,
    u.path,
    u.contract_name,
    u.language,
    u.status,
    0,
    0
FROM {verified_db:Identifier}.source_uses AS u FINAL
INNER JOIN
(
    SELECT loan.1 AS chain, toFixedString(unhex(loan.2), 20) AS lender, toFixedString(unhex(loan.3), 20) AS twin
    FROM (SELECT arrayJoin(arrayZip({chains:Array(UInt32)}, {lenders:Array(String)}, {twins:Array(String)})) AS loan)
) AS l ON l.chain = u.chain_id AND l.lender = u.address
