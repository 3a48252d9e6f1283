-- One row: the time of the server, unix milliseconds.
SELECT toUInt64(toUnixTimestamp64Milli(now64(3))) AS now
LIMIT 1
