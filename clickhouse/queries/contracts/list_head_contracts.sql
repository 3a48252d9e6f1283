-- Each row: an address that emitted a log or was created in a head block after `from_ord`. Reads the newest part of the
-- head tables by key.
SELECT contract AS address
FROM
(
    SELECT address AS contract
    FROM logs_head
    WHERE ord > {from_ord:UInt64} AND chain_id = {chain_id:UInt32}
    UNION DISTINCT
    SELECT address
    FROM created_contracts_head
    WHERE ord > {from_ord:UInt64}
)
LIMIT {limit:UInt32}
