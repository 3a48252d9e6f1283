-- One row: the state of the ranges of the database `source`. Equal values of `print` mean that no range began or
-- finished in between. `open`: a range has begun and not finished. Reads the table promotions.
SELECT
    toString((count(), max(seq), maxIf(seq, status = 'done'))) AS print,
    toBool(maxIf(seq, status = 'intent') > maxIf(seq, status = 'done')) AS open
FROM {source:Identifier}.promotions
LIMIT 1
