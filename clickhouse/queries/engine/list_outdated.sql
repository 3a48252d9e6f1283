-- Each row: one Distributed table whose columns differ from the columns of its local table, so that it must
-- be created again.
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
