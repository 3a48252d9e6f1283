-- At most one row: the newest writer of the chain, with the version of its last sign of life.
SELECT session, id, name, ended, version
FROM writers
WHERE chain_id = {chain:UInt32}
ORDER BY session DESC, id DESC, version DESC
LIMIT 1
