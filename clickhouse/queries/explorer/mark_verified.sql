-- One row: what differs after every verification that is stored (and at times after a merge); RowBinary. Reads one narrow column.
SELECT toUInt64(count()) AS table_rows, toUInt64(max(version)) AS newest_version
FROM verified_contracts
