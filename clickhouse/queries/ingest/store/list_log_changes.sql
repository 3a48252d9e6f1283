-- Each row: a block from which on all raw logs are stored (1), or only some of them (0), oldest block first. Reads the
-- table operations, which has few rows. Its row is named explorer.<block>, so the block starts at character 10.
SELECT
    toUInt32(substring(o.name, 10)) AS block,
    argMax(o.value, o.version) AS whole
FROM operations AS o
WHERE startsWith(o.name, 'explorer.')
GROUP BY o.name
ORDER BY block
LIMIT {limit:UInt32}
