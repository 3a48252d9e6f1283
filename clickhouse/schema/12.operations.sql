-- Layer 12, requests of operators to the ingester.

-- One row: one request; the newest version counts.
CREATE TABLE IF NOT EXISTS operations
(
    name LowCardinality(String) COMMENT 'pause: until when no range may be written to the final tables, unix ms, UTC; floor.<table>: first block whose rows of the table are all kept',
    value UInt64 COMMENT 'In the unit of the name',
    version UInt64 COMMENT 'When it was written, unix microseconds, UTC: the newest counts'
)
ENGINE = ReplacingMergeTree(version)
ORDER BY name
COMMENT 'Wishes of operators: pauses and retention';
