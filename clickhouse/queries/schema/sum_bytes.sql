-- Each row: the size of this database on disk, in bytes.
SELECT sum(bytes_on_disk) AS bytes
FROM system.parts
WHERE active AND database = currentDatabase()
LIMIT 1
