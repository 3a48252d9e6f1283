-- One row: a token or verified contract whose symbol or name has `q` (lower case, not empty) in it. `place`: 4 all of it, 3 its
-- beginning, 2 the beginning of a word, 1 inside; of a token by its name half a place less. Verified contracts of all chains,
-- since others may have their code; of a token `code_hash` is empty. Reads tokens and the text index of verified_contracts in
-- `verified_db`, both small.
SELECT
    f.type AS type,
    f.chain AS chain_id,
    lower(hex(f.code)) AS code_hash,
    concat('0x', lower(hex(f.contract))) AS address,
    f.title AS title,
    f.subtitle AS subtitle,
    toFloat64(f.place) AS place
FROM
(
    (
        SELECT
            'token' AS type,
            {chain_id:UInt32} AS chain,
            '' AS code,
            address AS contract,
            coalesce(argMax(symbol, version) AS last_symbol, argMax(name, version) AS last_name, '') AS title,
            last_name AS subtitle,
            lowerUTF8(ifNull(last_symbol, '')) AS low_symbol,
            lowerUTF8(ifNull(last_name, '')) AS low_name,
            greatest(
                multiIf(low_symbol = {q:String}, 4, startsWith(low_symbol, {q:String}), 3, position(concat(' ', low_symbol), concat(' ', {q:String})) > 0, 2, position(low_symbol, {q:String}) > 0, 1, 0),
                multiIf(low_name = {q:String}, 4, startsWith(low_name, {q:String}), 3, position(concat(' ', low_name), concat(' ', {q:String})) > 0, 2, position(low_name, {q:String}) > 0, 1, 0) - 0.5
            ) AS place
        FROM tokens
        GROUP BY address
        HAVING place > 0
        ORDER BY place DESC, address
        LIMIT {limit:UInt32}
    )
    UNION ALL
    (
        SELECT
            'contract' AS type,
            chain_id AS chain,
            toString(code_hash) AS code,
            address AS contract,
            name AS title,
            path AS subtitle,
            '' AS low_symbol,
            lowerUTF8(name) AS low_name,
            multiIf(low_name = {q:String}, 4, startsWith(low_name, {q:String}), 3, position(concat(' ', low_name), concat(' ', {q:String})) > 0, 2, position(low_name, {q:String}) > 0, 1, 0) AS place
        FROM {verified_db:Identifier}.verified_contracts
        WHERE position(lowerUTF8(name), {q:String}) > 0
        ORDER BY place DESC, chain_id = {chain_id:UInt32} DESC, version DESC
        LIMIT 1 BY chain_id, address
        LIMIT {limit:UInt32}
    )
) AS f
ORDER BY f.place DESC, f.contract, f.type DESC
LIMIT 2 * {limit:UInt32}
