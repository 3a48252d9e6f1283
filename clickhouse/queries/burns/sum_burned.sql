-- One row: how much of the burn token went into its burn addresses from others in (since, now], raw units, as of the
-- snapshot. Key (token, ord) of transfers from the window's first block on (`after_ord`); the head twin is small.
-- `addresses`: hex without 0x.
WITH (SELECT groupArray(toFixedString(unhex(address), 20)) FROM (SELECT arrayJoin({addresses:Array(String)}) AS address)) AS burning
SELECT toString(sum(b.amount)) AS burned
FROM transfers_chain AS b
WHERE b.token = unhex({token:String})
    AND b.ord > {after_ord:UInt64}
    AND b.timestamp > {since:UInt32}
    AND b.kind = 'transfer'
    AND has(burning, b.recipient)
    AND NOT has(burning, b.sender)
LIMIT 1
