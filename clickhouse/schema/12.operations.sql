-- Layer 12, requests of operators to the ingester.

-- One row: one request; the newest version counts.
CREATE TABLE IF NOT EXISTS operations
(
    name LowCardinality(String) COMMENT 'Kind of request. pause: no new range enters the final tables before this time; floor.<table>: first block whose rows of the table are complete',
    value UInt64 COMMENT 'pause: unix milliseconds, UTC; floor.<table>: block number',
    version UInt64 COMMENT 'Time of writing, unix microseconds, UTC; the newest counts'
)
ENGINE = ReplacingMergeTree(version)
ORDER BY name
COMMENT 'Requests of operators: pauses and retention floors';
