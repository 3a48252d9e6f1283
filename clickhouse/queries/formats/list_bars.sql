-- Each row: one bar, built from the given columns, in their order. Reads no table: this query converts merged bars to
-- CSV, Parquet or Arrow. Floats arrive as their 64 bits, so no value is rounded.
SELECT
    time,
    reinterpretAsFloat64(open_bits) AS open,
    reinterpretAsFloat64(high_bits) AS high,
    reinterpretAsFloat64(low_bits) AS low,
    reinterpretAsFloat64(close_bits) AS close,
    reinterpretAsFloat64(volume_bits) AS volume,
    if(isNull(volume_usd_bits), NULL, reinterpretAsFloat64(assumeNotNull(volume_usd_bits))) AS volume_usd,
    trades,
    buys,
    sells,
    toBool(closed_flag) AS closed
FROM
(
    SELECT 1 AS one
)
ARRAY JOIN
    {time:Array(UInt32)} AS time,
    {open_bits:Array(UInt64)} AS open_bits,
    {high_bits:Array(UInt64)} AS high_bits,
    {low_bits:Array(UInt64)} AS low_bits,
    {close_bits:Array(UInt64)} AS close_bits,
    {volume_bits:Array(UInt64)} AS volume_bits,
    {volume_usd_bits:Array(Nullable(UInt64))} AS volume_usd_bits,
    {trades:Array(UInt64)} AS trades,
    {buys:Array(UInt64)} AS buys,
    {sells:Array(UInt64)} AS sells,
    {closed:Array(UInt8)} AS closed_flag
LIMIT {limit:UInt32}
