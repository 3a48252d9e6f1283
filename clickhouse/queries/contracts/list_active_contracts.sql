-- Each row: an address that emitted a log or was created in a head block after `from_ord`, and whose stored code can
-- change. Reads the newest part of the head tables by key, then key address of contract_codes.
SELECT c.address
FROM contract_codes AS c
WHERE c.address IN
(
    SELECT address
    FROM logs_head
    WHERE ord > {from_ord:UInt64} AND chain_id = {chain_id:UInt32}
    UNION DISTINCT
    SELECT address
    FROM created_contracts_head
    WHERE ord > {from_ord:UInt64}
)
GROUP BY c.address
HAVING NOT argMax(c.fixed, c.version)
LIMIT {limit:UInt32}
