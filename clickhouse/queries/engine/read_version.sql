-- One row: the version of the server.
SELECT version() AS version
LIMIT 1
