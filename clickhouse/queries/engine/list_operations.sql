-- Each row: the newest value of one request in the table operations.
SELECT o.name AS name, argMax(o.value, o.version) AS value
FROM operations AS o
WHERE has({names:Array(String)}, o.name)
GROUP BY o.name
LIMIT length({names:Array(String)})
