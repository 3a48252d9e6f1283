-- Each row: a verified contract of one chain, in the order of its version. `sign` is 1 for the oldest first
-- and -1 for the newest first. The rows begin after the version `after` in this order. `q` in lower case
-- finds a part of the name or the start of the address as hex. An empty `q` or `language` accepts all
-- contracts. Reads only small columns of all verified contracts of the chain. Never reads ABIs, settings or
-- sources.
SELECT
    address AS contract,
    status,
    creation_match,
    verified_at,
    name,
    toString(version) AS match_id,
    language,
    compiler,
    compiler_version,
    optimization,
    license,
    toBool(ifNull(constructor_arguments, '') != '') AS has_arguments
FROM verified_contracts FINAL
WHERE chain_id = {chain_id:UInt32}
    AND ({after:UInt64} = 0 OR toInt64(version) * {sign:Int8} > toInt64({after:UInt64}) * {sign:Int8})
    AND ({language:String} = '' OR language = {language:String})
    AND (
        {q:String} = ''
        OR position(lowerUTF8(name), {q:String}) > 0
        OR startsWith(concat('0x', lower(hex(address))), {q:String})
    )
ORDER BY toInt64(version) * {sign:Int8}
LIMIT {limit:UInt32} WITH TIES
