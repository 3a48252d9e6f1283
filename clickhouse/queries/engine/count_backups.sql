-- One row: backups that are being written.
SELECT count() AS running
FROM system.backups
WHERE status = 'CREATING_BACKUP'
