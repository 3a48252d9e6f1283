-- Each row: one distributed table whose columns differ from its local table.
SELECT name
FROM
(
    SELECT
        replaceRegexpOne(table, {local:String}, '') AS name,
        groupArray((c.name, c.type, c.default_expression)) AS columns
    FROM (SELECT * FROM system.columns WHERE database = currentDatabase() ORDER BY table, position) AS c
    GROUP BY table
)
GROUP BY name
HAVING uniqExact(columns) > 1
LIMIT {limit:UInt32}
