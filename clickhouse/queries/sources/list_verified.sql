-- Each row: the verification of one contract. `contracts` are at most 1,000 texts of chain id, address and code hash in
-- hex without 0x, such as 369:ab12…:cd34…. With `newest`, the hash is ignored, and the newest verification counts, which
-- may be of another code. Uses the key (chain_id, address). Never scans other contracts.
SELECT
    v.chain_id AS chain_id,
    concat('0x', lower(hex(v.address))) AS address,
    concat('0x', lower(hex(v.code_hash))) AS code_hash,
    v.status AS status,
    v.source AS source,
    v.verified_at AS verified_at,
    v.name AS name,
    v.path AS path,
    v.language AS language,
    v.compiler AS compiler,
    v.compiler_version AS compiler_version,
    v.optimization AS optimization,
    v.runs AS runs,
    v.evm_version AS evm_version,
    v.license AS license,
    v.abi AS abi,
    if(v.constructor_arguments IS NULL, NULL, concat('0x', lower(hex(assumeNotNull(v.constructor_arguments))))) AS constructor_arguments,
    v.libraries AS libraries,
    v.settings AS settings,
    v.file_paths AS file_paths,
    arrayMap(each -> concat('0x', lower(hex(each))), v.file_hashes) AS file_hashes,
    if(v.deployer IS NULL, NULL, concat('0x', lower(hex(assumeNotNull(v.deployer))))) AS deployer,
    if(v.deployment_tx IS NULL, NULL, concat('0x', lower(hex(assumeNotNull(v.deployment_tx))))) AS deployment_tx,
    v.deployment_block AS deployment_block,
    v.creation_match AS creation_match,
    toString(v.version) AS match_id
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
