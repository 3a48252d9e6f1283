-- Each row: the newest fee change of one of the given pools of a vault.
SELECT
    address,
    ord,
    data
FROM logs
WHERE chain_id = {chain:UInt32}
    AND address IN (SELECT toFixedString(unhex(arrayJoin({pools:Array(String)})), 20))
    AND topic0 = unhex({topic:String})
    AND topic_count = 1
    AND length(data) = 32
    AND ord <= {final_ord:UInt64}
ORDER BY ord DESC
LIMIT 1 BY address
LIMIT length({pools:Array(String)})
