-- Each row: the state of the ranges of the database `source`. If two calls return the same `print`, no range
-- began or finished between them. `open` is 1 if a range has begun and has not finished. Reads the table
-- promotions.
SELECT
    toString((count(), max(seq), maxIf(seq, status = 'done'))) AS print,
    toBool(maxIf(seq, status = 'intent') > maxIf(seq, status = 'done')) AS open
FROM {source:Identifier}.promotions
LIMIT 1
