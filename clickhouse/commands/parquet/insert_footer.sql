-- Stores what the footer of one Parquet file says. The request's body is the footer. ClickHouse wants the columns of
-- ParquetMetadata with exactly these types.
INSERT INTO footers
SELECT
    {file:UInt32},
    num_rows,
    arrayMap(c -> (c.name, c.physical_type, c.logical_type), columns),
    arrayMap(
        c -> (ifNull(c.statistics.min, ''), ifNull(c.statistics.max, '')),
        arrayFilter(c -> c.name = 'block_number', arrayFlatten(arrayMap(g -> g.columns, row_groups)))
    )
FROM input('num_rows UInt64,
    columns Array(Tuple(name String, path String, max_definition_level UInt64, max_repetition_level UInt64,
        physical_type String, logical_type String, compression String, total_uncompressed_size UInt64,
        total_compressed_size UInt64, space_saved String, encodings Array(String))),
    row_groups Array(Tuple(file_offset UInt64, num_columns UInt64, num_rows UInt64, total_uncompressed_size UInt64,
        total_compressed_size UInt64,
        columns Array(Tuple(name String, path String, total_compressed_size UInt64, total_uncompressed_size UInt64,
            have_statistics Bool,
            statistics Tuple(num_values Nullable(UInt64), null_count Nullable(UInt64),
                distinct_count Nullable(UInt64), min Nullable(String), max Nullable(String)),
            bloom_filter_bytes Int64))))')
FORMAT ParquetMetadata
