-- One row: a token or a pair among the asked addresses. Keys: address of tokens and pools; the head twin is small.
-- `addresses`: hex without 0x.
SELECT
    concat('0x', lower(hex(k.contract))) AS address,
    k.kind AS kind
FROM
(
    SELECT DISTINCT address AS contract, 'token' AS kind
    FROM tokens
    WHERE address IN (SELECT toFixedString(unhex(arrayJoin({addresses:Array(String)})), 20))
    UNION ALL
    SELECT address, 'pair'
    FROM pools
    WHERE address IN (SELECT toFixedString(unhex(arrayJoin({addresses:Array(String)})), 20)) AND ord <= {final_ord:UInt64}
    -- if commits
    UNION ALL
    SELECT address, 'pair'
    FROM pools_head
    WHERE address IN (SELECT toFixedString(unhex(arrayJoin({addresses:Array(String)})), 20)) AND ord > {final_ord:UInt64} AND has({commits:Array(UInt64)}, commit)
    -- end
) AS k
LIMIT {limit:UInt32}
