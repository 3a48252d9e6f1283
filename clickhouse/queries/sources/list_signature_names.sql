-- Each row: a signature whose name begins with `prefix` (lower case), shortest first. Uses the key
-- name_lower.
SELECT
    n.kind,
    n.selector,
    n.signature,
    n.entry
FROM abi_signature_names AS n
WHERE startsWith(n.name_lower, {prefix:String})
ORDER BY n.length, n.signature, n.kind
LIMIT 1 BY n.signature, n.kind
LIMIT {limit:UInt32}
