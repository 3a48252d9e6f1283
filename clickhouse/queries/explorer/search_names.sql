-- One row: a token or verified contract whose symbol or name has `q` (lower case, not empty) in it. `place`: 4 all of it, 3 its
-- beginning, 2 the beginning of a word, 1 inside. Reads tokens and the text index of verified_contracts in `verified_db`, both
-- small; logs are counted by the projection by_emitter for the contracts found.
WITH
    found_tokens AS
    (
        SELECT
            address,
            argMax(symbol, version) AS symbol,
            argMax(name, version) AS name,
            greatest(
                multiIf(lowerUTF8(ifNull(symbol, '')) = {q:String}, 4, startsWith(lowerUTF8(ifNull(symbol, '')), {q:String}), 3, position(concat(' ', lowerUTF8(ifNull(symbol, ''))), concat(' ', {q:String})) > 0, 2, position(lowerUTF8(ifNull(symbol, '')), {q:String}) > 0, 1, 0),
                multiIf(lowerUTF8(ifNull(name, '')) = {q:String}, 4, startsWith(lowerUTF8(ifNull(name, '')), {q:String}), 3, position(concat(' ', lowerUTF8(ifNull(name, ''))), concat(' ', {q:String})) > 0, 2, position(lowerUTF8(ifNull(name, '')), {q:String}) > 0, 1, 0) - 0.5
            ) AS place
        FROM tokens
        GROUP BY address
        HAVING place > 0
        ORDER BY place DESC, address
        LIMIT {limit:UInt32}
    ),
    found_contracts AS
    (
        SELECT
            address,
            name,
            path,
            multiIf(lowerUTF8(name) = {q:String}, 4, startsWith(lowerUTF8(name), {q:String}), 3, position(concat(' ', lowerUTF8(name)), concat(' ', {q:String})) > 0, 2, position(lowerUTF8(name), {q:String}) > 0, 1, 0) AS place
        FROM {verified_db:Identifier}.verified_contracts
        WHERE chain_id = {chain_id:UInt32} AND position(lowerUTF8(name), {q:String}) > 0
        ORDER BY place DESC, version DESC
        LIMIT 1 BY address
        LIMIT {limit:UInt32}
    ),
    counted AS
    (
        SELECT address, count() AS logs
        FROM logs
        WHERE chain_id = {chain_id:UInt32}
            AND address IN (SELECT address FROM found_tokens UNION ALL SELECT address FROM found_contracts)
        GROUP BY chain_id, address
    )
SELECT
    f.type AS type,
    concat('0x', lower(hex(f.contract))) AS address,
    f.title AS title,
    f.subtitle AS subtitle,
    toFloat64(f.place) AS place,
    toString(c.logs) AS logs
FROM
(
    SELECT
        if(address IN (SELECT address FROM pools), 'pair', 'token') AS type,
        address AS contract,
        coalesce(symbol, name, '') AS title,
        name AS subtitle,
        place
    FROM found_tokens
    UNION ALL
    SELECT 'contract', address, name, path, place
    FROM found_contracts
) AS f
LEFT JOIN counted AS c ON f.contract = c.address
ORDER BY f.place DESC, c.logs DESC, f.contract
LIMIT 2 * {limit:UInt32}
