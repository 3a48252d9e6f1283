-- One row: the number of backups in progress.
SELECT count() AS running
FROM system.backups
WHERE status = 'CREATING_BACKUP'
LIMIT 1
