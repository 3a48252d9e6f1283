-- One row: the raw amount of the burn token that other addresses sent to the burn addresses in (since, now],
-- as of the snapshot. Uses the key (token, ord) of transfers, from the first block of the window
-- (`after_ord`). Reads all rows of the head table, which is small. The parameter `addresses` is hex without
-- 0x.
WITH (SELECT groupArray(toFixedString(unhex(address), 20)) FROM (SELECT arrayJoin({addresses:Array(String)}) AS address)) AS burning
SELECT sum(b.amount) AS burned
FROM transfers_chain AS b
WHERE b.token = unhex({token:String})
    AND b.ord > {after_ord:UInt64}
    AND b.timestamp > {since:UInt32}
    AND b.kind = 'transfer'
    AND has(burning, b.recipient)
    AND NOT has(burning, b.sender)
LIMIT 1
