-- Each row: the newest value of one name in the table operations, such as the end of a pause.
SELECT o.name, argMax(o.value, o.version) AS value
FROM operations AS o
WHERE has({names:Array(String)}, o.name)
GROUP BY o.name
LIMIT length({names:Array(String)})
