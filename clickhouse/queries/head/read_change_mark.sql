-- One row: the numbers of rows of promotions and head_blocks. Every change of the head and every finished
-- range adds rows, so equal numbers mean that nothing changed. The query runs many times a second. It must
-- read no column, so that ClickHouse can answer from metadata.
SELECT
    assumeNotNull((
        SELECT count()
        FROM promotions
    )) AS promotion_rows,
    count() AS head_rows
FROM head_blocks
LIMIT 1
