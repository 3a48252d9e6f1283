-- Each row: a verified contract of another chain (lender) with the same code as contracts of this chain. No
-- contract of this chain with this code has sources. `twin` is the smallest address of these contracts.
-- `verified_db` is the database of the verified contracts of all chains. Reads the column code_hash of
-- contract_codes, then key address, and scans source_uses, so only a background job runs this query.
SELECT
    t.twin,
    v.chain_id AS lender_chain,
    v.address AS lender
FROM
(
    SELECT c.last_hash AS twin_hash, min(c.contract) AS twin
    FROM
    (
        SELECT address AS contract, argMax(code_hash, version) AS last_hash
        FROM contract_codes
        WHERE address IN (
            SELECT address
            FROM contract_codes
            WHERE code_hash IN (SELECT code_hash FROM {verified_db:Identifier}.verified_code_hashes WHERE chain_id != {chain_id:UInt32})
        )
        GROUP BY address
    ) AS c
    GROUP BY c.last_hash
    HAVING countIf(c.contract IN (SELECT address FROM {verified_db:Identifier}.source_uses FINAL WHERE chain_id = {chain_id:UInt32})) = 0
) AS t
INNER JOIN
(
    SELECT code_hash, chain_id, address
    FROM {verified_db:Identifier}.verified_code_hashes
    WHERE chain_id != {chain_id:UInt32}
        AND (chain_id, address, code_hash) IN (SELECT chain_id, address, code_hash FROM {verified_db:Identifier}.verified_contracts FINAL)
        AND (chain_id, address) IN (SELECT chain_id, address FROM {verified_db:Identifier}.source_uses FINAL)
    ORDER BY code_hash, status, verified_at, chain_id, address
    LIMIT 1 BY code_hash
) AS v ON v.code_hash = t.twin_hash
ORDER BY t.twin
LIMIT {limit:UInt32}
