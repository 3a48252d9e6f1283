-- At most one row: the progress of one backup or restore.
SELECT
    status,
    error,
    if(status IN ('RESTORING', 'RESTORED'), files_read, num_files) AS files,
    if(status IN ('RESTORING', 'RESTORED'), bytes_read, total_size) AS bytes
FROM system.backups
WHERE id = {id:String}
LIMIT 1
