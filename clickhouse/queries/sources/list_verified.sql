-- Each row: the verification of one contract. `contracts` are at most 1,000 texts of chain id, address and code hash in
-- hex without 0x, such as 369:ab12…:cd34…. With `newest`, the hash is ignored, and the newest verification counts,
-- which may be of another code. With `codes`, only a verification of exactly this code counts. Uses the key
-- (chain_id, address). Never scans other contracts.
SELECT
    v.chain_id,
    v.address,
    v.code_hash,
    v.status,
    v.source,
    v.verified_at,
    v.name,
    v.path,
    v.language,
    v.compiler,
    v.compiler_version,
    v.optimization,
    v.runs,
    v.evm_version,
    v.license,
    v.abi,
    v.constructor_arguments,
    v.libraries,
    v.settings,
    v.file_paths,
    v.file_hashes,
    v.deployer,
    v.deployment_tx,
    v.deployment_block,
    v.creation_match,
    v.version
FROM verified_contracts AS v -- if newest
FROM verified_codes AS v -- if codes
WHERE (v.chain_id, v.address) IN
(
    SELECT
        toUInt32(splitByChar(':', item)[1]),
        toFixedString(unhex(splitByChar(':', item)[2]), 20)
    FROM (SELECT arrayJoin({contracts:Array(String)}) AS item)
)
    AND has({contracts:Array(String)}, concat(toString(v.chain_id), ':', lower(hex(v.address)), ':', lower(hex(v.code_hash)))) -- if codes
ORDER BY v.version DESC
LIMIT 1 BY v.chain_id, v.address -- if newest
LIMIT 1 BY v.chain_id, v.address, v.code_hash -- if codes
LIMIT {limit:UInt32}
