-- One row: how many rows promotions and head_blocks hold. Every flip of the head and every move of the cursor adds
-- rows, so the mark changes with them. Answered from the parts' metadata: it runs many times a second and must never
-- read a column.
SELECT
    (
        SELECT count()
        FROM promotions
    ) AS promotion_rows,
    count() AS head_rows
FROM head_blocks
LIMIT 1
