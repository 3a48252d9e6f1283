-- One row: the row counts of promotions and head_blocks. Every flip of the head and every move of the cursor adds rows,
-- so this mark changes too. The query runs many times a second. The engine answers from part metadata: never read a
-- column.
SELECT
    (
        SELECT count()
        FROM promotions
    ) AS promotion_rows,
    count() AS head_rows
FROM head_blocks
LIMIT 1
