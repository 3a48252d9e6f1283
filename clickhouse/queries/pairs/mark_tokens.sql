-- One row: values that change with every write of token metadata, so that callers know when to read the
-- metadata again. They sometimes also change when ClickHouse merges parts. Reads one small column.
SELECT count() AS table_rows, sumWithOverflow(version) AS version_sum
FROM tokens
LIMIT 1
