-- Each row: the newest fee change of one of the given pools of a vault.
SELECT
    concat('0x', lower(hex(l.address))) AS address,
    l.ord AS ord,
    concat('0x', lower(hex(l.data))) AS data
FROM logs AS l
WHERE chain_id = {chain:UInt32}
    AND l.address IN (SELECT toFixedString(unhex(a), 20) FROM (SELECT arrayJoin({pools:Array(String)}) AS a))
    AND topic0 = unhex({topic:String})
    AND topic_count = 1
    AND length(l.data) = 32
    AND l.ord <= {final_ord:UInt64}
ORDER BY l.ord DESC
LIMIT 1 BY l.address
LIMIT length({pools:Array(String)})
