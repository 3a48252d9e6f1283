-- At most one row: the newest writer of the chain, with the version of its last sign of life: its claim, its last state or
-- its end. The tables have one row per writer, so they are small.
WITH
    newest AS (
        SELECT session, id, name, ended, version
        FROM writers
        WHERE chain_id = {chain:UInt32}
        ORDER BY session DESC, id DESC, version DESC
        LIMIT 1
    ),
    (
        SELECT max(version)
        FROM writer_states
        WHERE chain_id = {chain:UInt32}
            AND (session, id) IN (SELECT session, id FROM newest)
    ) AS state_version
SELECT session, id, name, ended, greatest(version, assumeNotNull(state_version)) AS version
FROM newest
LIMIT 1
