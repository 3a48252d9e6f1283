-- Each row: the number of backups that the server is writing now.
SELECT count() AS running
FROM system.backups
WHERE status = 'CREATING_BACKUP'
LIMIT 1
