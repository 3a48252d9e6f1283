-- Each row: a table, and the sum of its stored range hashes between two ranges, modulo 2^128. Reads the ranges by the
-- sorting key.
SELECT name, sum(value) AS sum
FROM (
    SELECT sums
    FROM audit_hashes FINAL
    WHERE chain_id = {chain:UInt32} AND from_block BETWEEN {from:UInt32} AND {to:UInt32}
)
ARRAY JOIN mapKeys(sums) AS name, mapValues(sums) AS value
GROUP BY name
LIMIT 100
