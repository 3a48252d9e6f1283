-- One row: a hash of code that some verified contract has, on any chain; RowBinary, ascending. Key: code_hash.
SELECT DISTINCT code_hash
FROM verified_code_hashes
ORDER BY code_hash
LIMIT {limit:UInt32}
