-- Each row: a source file with its path and the contract's name in one contract, and the number of contracts of the
-- chain that share the file. Each item of `uses` is a content hash and a contract address in hex without 0x, such as
-- ab…:12…. Uses the key content_hash.
WITH requested_uses AS
(
    SELECT
        toFixedString(unhex(splitByChar(':', item)[1]), 32) AS hash,
        toFixedString(unhex(splitByChar(':', item)[2]), 20) AS contract
    FROM (SELECT arrayJoin({uses:Array(String)}) AS item)
)
SELECT
    u.content_hash,
    toUInt32(uniqExact(u.address)) AS contracts,
    minIf(u.path, (u.content_hash, u.address) IN (SELECT hash, contract FROM requested_uses)
        AND ({path:String} = '' OR position(lowerUTF8(u.path), {path:String}) > 0)) AS path,
    anyIf(u.contract_name, (u.content_hash, u.address) IN (SELECT hash, contract FROM requested_uses)) AS contract_name
FROM {verified_db:Identifier}.source_uses AS u FINAL
WHERE u.chain_id = {chain_id:UInt32} AND u.content_hash IN (SELECT hash FROM requested_uses)
GROUP BY u.content_hash
LIMIT {limit:UInt32}
