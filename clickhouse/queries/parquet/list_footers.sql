-- One row is the footer of one Parquet file. Reads a table in memory that has one row per file.
SELECT
    num_rows,
    columns,
    blocks
FROM footers
WHERE file = {file:UInt32}
LIMIT 1
