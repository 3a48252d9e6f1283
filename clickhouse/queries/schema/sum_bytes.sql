-- One row: bytes of this database on disk.
SELECT sum(bytes_on_disk) AS bytes
FROM system.parts
WHERE active AND database = currentDatabase()
LIMIT 1
