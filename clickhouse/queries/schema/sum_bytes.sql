-- One row: the size of the rows of this database on this server's disk, in bytes.
SELECT sum(bytes_on_disk) AS bytes
FROM system.parts
WHERE active AND database = currentDatabase()
LIMIT 1
