-- The footers of the Parquet files of a backfill: one row per file, as ClickHouse's format ParquetMetadata reads it.
CREATE TABLE footers
(
    file       UInt32 COMMENT 'Number of the file',
    num_rows   UInt64 COMMENT 'Number of rows of the file',
    columns    Array(Tuple(name String, physical_type String, logical_type String)) COMMENT 'Columns and their types',
    blocks     Array(Tuple(min String, max String)) COMMENT 'Least and largest block number of each row group, as text; empty if the file has no such statistics'
)
ENGINE = Memory
