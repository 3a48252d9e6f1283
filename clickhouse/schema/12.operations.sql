-- Layer 12, operations: requests that operators send to the ingester, and the processes that may write.

-- One row: one request of an operator. If a name has several rows, the newest one is valid.
CREATE TABLE IF NOT EXISTS operations
(
    name LowCardinality(String) COMMENT 'Kind of request. pause: the ingester starts no new range before a time; floor.<table>: the first block whose rows the table holds completely after pruning; explorer.<block>: whether all raw logs are stored from this block on',
    value UInt64 COMMENT 'Value of the request. pause: end of the pause, unix milliseconds, UTC; floor.<table>: block number; explorer.<block>: 1 if all raw logs are stored, 0 if only some are',
    version UInt64 COMMENT 'Time when this row was written, unix microseconds, UTC; the newest row of a name is valid'
)
ENGINE = ReplacingMergeTree(version)
ORDER BY name
COMMENT 'Requests of operators: pauses of the ingester, first complete blocks of pruned tables, and changes of EXPLORER';

-- Each row: one writer, which is a process that ingests one chain. If a writer has several rows, the newest one is
-- valid. The writer with the largest (session, id) is the only one that may write.
CREATE TABLE IF NOT EXISTS writers
(
    chain_id UInt32 COMMENT 'EIP-155 id of the chain',
    session UInt64 COMMENT 'Number of the writer, larger than that of any earlier writer: its first claim in 1/1,024 ms of unix time. Its range numbers and its versions of the head are larger',
    id UInt64 COMMENT 'Random number that orders two writers with the same session',
    name String COMMENT 'Host name and process id of the writer',
    ended Bool COMMENT 'Whether the writer has stopped by itself',
    version UInt64 COMMENT 'Time when this row was written, unix microseconds, UTC'
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (chain_id, session, id)
SETTINGS index_granularity = 256
COMMENT 'Processes that have written the chain';

-- Each row: the state of one writer as of one sign of life. If a writer has several rows, the newest one is valid.
-- Processes that only serve the data read it.
CREATE TABLE IF NOT EXISTS writer_states
(
    chain_id UInt32 COMMENT 'EIP-155 id of the chain',
    session UInt64 COMMENT 'Number of the writer, as in writers',
    id UInt64 COMMENT 'Random number of the writer, as in writers',
    state String COMMENT 'JSON: the newest block of the node, whether the node answers, the problems of the writer, and its backfill',
    version UInt64 COMMENT 'Time when this row was written, unix microseconds, UTC. A running writer writes a row every 10 seconds, as its sign of life'
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (chain_id, session, id)
SETTINGS index_granularity = 256
COMMENT 'What the processes that write the chain know of the node and of their problems';
