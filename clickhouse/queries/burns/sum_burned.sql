-- One row: how much of the burn token went into its burn addresses from others in (since, now], raw units, as of the
-- snapshot. Key (token, ord) of transfers from the window's first block on (`after_ord`); the head twin is small.
-- `addresses`: hex without 0x.
WITH (SELECT groupArray(toFixedString(unhex(address), 20)) FROM (SELECT arrayJoin({addresses:Array(String)}) AS address)) AS burning
SELECT toString(sum(b.amount)) AS burned
FROM
(
    SELECT amount
    FROM transfers
    WHERE token = unhex({token:String})
        AND ord > {after_ord:UInt64}
        AND ord <= {final_ord:UInt64}
        AND timestamp > {since:UInt32}
        AND kind = 'transfer'
        AND has(burning, recipient)
        AND NOT has(burning, sender)
    UNION ALL
    SELECT amount
    FROM transfers_head
    WHERE has({commits:Array(UInt64)}, commit)
        AND token = unhex({token:String})
        AND ord > {final_ord:UInt64}
        AND timestamp > {since:UInt32}
        AND kind = 'transfer'
        AND has(burning, recipient)
        AND NOT has(burning, sender)
) AS b
LIMIT 1
