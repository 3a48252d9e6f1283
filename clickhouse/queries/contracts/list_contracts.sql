-- Each row: a contract of one page, with the total number of matching contracts. Runs once for each new head
-- and set of parameters. Reads the projection by_contract for all contracts, and the tables of creations,
-- pools and verifications. Never reads the logs.
--
-- `q` in lower case finds three kinds of contracts: a part of the token name or symbol, a part of the
-- verified name, or the start of the address as hex. A contract is also found by the verified name of a
-- contract with the same code. A verification of another code than the stored one does not count. An empty `q`
-- or `kind` accepts all contracts. `verified` is 1 for verified contracts, 0 for others, 2 for all. `verified_db`
-- is the database of the verified contracts of all chains.
WITH
    pair_set AS
    (
        SELECT address
        FROM pools_chain
    ),
    proxy_set AS
    (
        SELECT address
        FROM contract_codes
        GROUP BY address
        HAVING argMax(proxy, version) != ''
    ),
    verified_set AS
    (
        SELECT address
        FROM {verified_db:Identifier}.verified_contracts
        WHERE chain_id = {chain_id:UInt32}
        GROUP BY address
        HAVING argMax(code_hash, version) = toFixedString('', 32) OR address NOT IN (SELECT address FROM contract_codes)
        UNION ALL
        SELECT address
        FROM contract_codes
        GROUP BY address
        HAVING argMax(code_hash, version) IN (SELECT code_hash FROM {verified_db:Identifier}.verified_code_hashes)
    ),
    named_set AS
    (
        SELECT address
        FROM {verified_db:Identifier}.verified_contracts
        WHERE chain_id = {chain_id:UInt32} AND {q:String} != '' AND position(lowerUTF8(name), {q:String}) > 0
        UNION ALL
        SELECT address
        FROM contract_codes
        WHERE {q:String} != ''
        GROUP BY address
        HAVING argMax(code_hash, version) IN
        (
            SELECT code_hash
            FROM {verified_db:Identifier}.verified_contracts
            WHERE position(lowerUTF8(name), {q:String}) > 0 AND code_hash != toFixedString('', 32)
        )
        UNION ALL
        SELECT address
        FROM tokens
        WHERE {q:String} != ''
            AND (position(lowerUTF8(ifNull(symbol, '')), {q:String}) > 0 OR position(lowerUTF8(ifNull(name, '')), {q:String}) > 0)
    )
SELECT
    contract AS address,
    count() OVER () AS total
FROM
(
    SELECT
        p.contract AS contract,
        sum(p.logs) AS logs,
        max(p.creation_time) AS made_at
    FROM
    (
        SELECT address AS contract, count() AS logs, NULL::Nullable(UInt32) AS creation_time
        FROM logs
        WHERE chain_id = {chain_id:UInt32}
        GROUP BY chain_id, address
        UNION ALL
        SELECT address AS contract, count() AS logs, NULL::Nullable(UInt32) AS creation_time
        FROM logs_head_chain
        WHERE chain_id = {chain_id:UInt32}
        GROUP BY address
        UNION ALL
        SELECT address, 0, timestamp
        FROM created_contracts_chain
        UNION ALL
        SELECT address, 0, created_at
        FROM pools_chain
        UNION ALL
        SELECT address, 0, nullIf(timestamp, 0)
        FROM contract_creations
        WHERE block <= intDiv({final_ord:UInt64}, 1048576) AND isNotNull(creator)
        UNION ALL
        SELECT address, 0, NULL
        FROM {verified_db:Identifier}.verified_contracts
        WHERE chain_id = {chain_id:UInt32}
    ) AS p
    GROUP BY p.contract
)
WHERE ({verified:UInt8} = 2 OR (contract IN (SELECT address FROM verified_set)) = ({verified:UInt8} = 1))
    AND ({q:String} = '' OR startsWith(lower(hex(contract)), {q:String}) OR contract IN (SELECT address FROM named_set))
    AND ({kind:String} = '' OR multiIf(
        contract IN (SELECT address FROM pair_set), 'pair',
        contract IN (SELECT address FROM tokens), 'token',
        contract IN (SELECT address FROM proxy_set), 'proxy',
        'other') = {kind:String})
ORDER BY
    if({by_logs:Bool}, toInt64(0), toInt64(isNull(made_at))),
    if({by_logs:Bool}, toInt64(logs), toInt64(ifNull(made_at, 0))) * if({newest:Bool}, -1, 1),
    contract
LIMIT {limit:UInt32} OFFSET {skip:UInt32}
