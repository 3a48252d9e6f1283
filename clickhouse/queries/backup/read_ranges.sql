-- One row: a text `print` about all ranges (groups of final blocks) of the database `source`. If two calls
-- return the same `print`, no range began or finished between them. `open` is 1 if a range has begun and has
-- not finished. Reads the table promotions.
SELECT
    toString((count(), max(seq), maxIf(seq, status = 'done'))) AS print,
    toBool(maxIf(seq, status = 'intent') > maxIf(seq, status = 'done')) AS open
FROM {source:Identifier}.promotions
LIMIT 1
