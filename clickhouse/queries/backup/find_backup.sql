-- At most one row: the progress of one backup or restore.
SELECT
    toString(b.status) AS status,
    b.error,
    if(b.status IN ('RESTORING', 'RESTORED'), files_read, num_files) AS files,
    if(b.status IN ('RESTORING', 'RESTORED'), bytes_read, total_size) AS bytes
FROM system.backups AS b
WHERE id = {id:String}
LIMIT 1
