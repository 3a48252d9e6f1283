-- Each row: the row counts of promotions and head_blocks. Every change of the head and every finished range adds rows,
-- so equal counts mean that nothing changed. The query runs many times a second. The engine answers from the metadata
-- of parts, so the query must read no column.
SELECT
    (
        SELECT count()
        FROM promotions
    ) AS promotion_rows,
    count() AS head_rows
FROM head_blocks
LIMIT 1
