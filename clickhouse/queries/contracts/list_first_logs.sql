-- Each row: the first final log of a contract. Uses the key (chain_id, address). Reads all logs of the given
-- contracts, so the caller asks only for new contracts, which have few logs. The parameter `addresses` is hex
-- without 0x.
SELECT
    l.address,
    min(l.ord) AS ord,
    argMin(l.tx_hash, l.ord) AS tx_hash,
    argMin(l.timestamp, l.ord) AS timestamp
FROM logs AS l
WHERE l.chain_id = {chain_id:UInt32}
    AND l.address IN (SELECT toFixedString(unhex(arrayJoin({addresses:Array(String)})), 20))
    AND l.ord <= {final_ord:UInt64}
GROUP BY l.address
ORDER BY min(l.ord)
LIMIT {limit:UInt32}
