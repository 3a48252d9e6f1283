-- At most one row: the newest writer of the chain, the ages of its last sign of life (its claim, its last state or its end)
-- and of its last state, and the state. Both ages are computed with the clock of ClickHouse, which also set the times. The tables have one row per
-- writer, so they are small.
WITH
    newest AS (
        SELECT
            session,
            id,
            ended,
            version
        FROM writers
        WHERE chain_id = {chain_id:UInt32}
        ORDER BY session DESC, id DESC, version DESC
        LIMIT 1
    ),
    toUnixTimestamp64Micro(now64(6)) AS now,
    (
        SELECT (argMax(state, version), max(version))
        FROM writer_states
        WHERE chain_id = {chain_id:UInt32}
            AND (session, id) IN (SELECT session, id FROM newest)
    ) AS newest_state
SELECT
    ended,
    now / 1000 AS now_ms,
    (now - toInt64(greatest(version, assumeNotNull(tupleElement(newest_state, 2))))) / 1000 AS silent_ms,
    assumeNotNull(tupleElement(newest_state, 1)) AS state,
    (now - toInt64(assumeNotNull(tupleElement(newest_state, 2)))) / 1000 AS state_age_ms
FROM newest
LIMIT 1
