-- One row: a token as it is called now; RowBinary, as tokenNames.ts reads it. `both`: symbol and name in lower case, each behind
-- '\t ' and before '\n'. `newer`: only versions above `version`, each of them, the newest first. Otherwise all tokens, those first
-- that emitted most final logs: reads what by_contract has of every contract, which is for once in minutes.
-- if newer
SELECT
    address,
    concat('\t ', lowerUTF8(ifNull(symbol, '')), '\n\t ', lowerUTF8(ifNull(name, '')), '\n') AS both,
    symbol,
    name
FROM tokens
WHERE version > {version:UInt64}
ORDER BY version DESC
LIMIT {limit:UInt32}
-- end
-- if all
SELECT
    t.address AS address,
    concat('\t ', lowerUTF8(ifNull(t.symbol, '')), '\n\t ', lowerUTF8(ifNull(t.name, '')), '\n') AS both,
    t.symbol AS symbol,
    t.name AS name
FROM
(
    SELECT address, symbol, name
    FROM tokens
    ORDER BY version DESC
    LIMIT 1 BY address
) AS t
LEFT JOIN
(
    SELECT address, count() AS logs
    FROM logs
    WHERE chain_id = {chain_id:UInt32}
    GROUP BY chain_id, address
) AS c ON c.address = t.address
ORDER BY c.logs DESC, t.address
LIMIT {limit:UInt32}
-- end
