-- Layer 12, requests that operators send to the ingester.

-- One row: one request of an operator. If a name has several rows, the newest one is valid.
CREATE TABLE IF NOT EXISTS operations
(
    name LowCardinality(String) COMMENT 'Kind of request. pause: the ingester starts no new range before a time; floor.<table>: the first block whose rows the table holds completely after pruning',
    value UInt64 COMMENT 'Value of the request. pause: end of the pause, unix milliseconds, UTC; floor.<table>: block number',
    version UInt64 COMMENT 'Time when this row was written, unix microseconds, UTC; the newest row of a name is valid'
)
ENGINE = ReplacingMergeTree(version)
ORDER BY name
COMMENT 'Requests of operators: pauses of the ingester, and first complete blocks of pruned tables';
