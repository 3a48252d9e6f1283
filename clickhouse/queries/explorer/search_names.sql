-- One row: a token whose symbol or name has `q` (lower case, not empty) in it. `place`: 4 all of it, 3 its beginning, 2 the
-- beginning of a word, 1 inside; by its name half a place less. What a token was called before does not count. Reads the names of
-- all tokens.
SELECT
    concat('0x', lower(hex(f.contract))) AS address,
    coalesce(f.last_symbol, f.last_name, '') AS title,
    f.last_name AS subtitle,
    toFloat64(greatest(
        multiIf(f.low_symbol = {q:String}, 4, startsWith(f.low_symbol, {q:String}), 3, position(concat(' ', f.low_symbol), concat(' ', {q:String})) > 0, 2, position(f.low_symbol, {q:String}) > 0, 1, 0),
        multiIf(f.low_name = {q:String}, 4, startsWith(f.low_name, {q:String}), 3, position(concat(' ', f.low_name), concat(' ', {q:String})) > 0, 2, position(f.low_name, {q:String}) > 0, 1, 0) - 0.5
    )) AS place
FROM
(
    SELECT
        address AS contract,
        argMax(tuple(symbol), version).1 AS last_symbol,
        argMax(tuple(name), version).1 AS last_name,
        lowerUTF8(ifNull(last_symbol, '')) AS low_symbol,
        lowerUTF8(ifNull(last_name, '')) AS low_name
    FROM tokens
    WHERE address IN (
        SELECT address
        FROM tokens
        WHERE position(lowerUTF8(ifNull(symbol, '')), {q:String}) > 0 OR position(lowerUTF8(ifNull(name, '')), {q:String}) > 0
    )
    GROUP BY address
) AS f
WHERE place > 0
ORDER BY place DESC, f.contract
LIMIT {limit:UInt32}
