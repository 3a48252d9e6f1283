-- One row: what one address holds of one token as of the snapshot, raw units; below zero where the logs do not add up.
-- `ahead`: holder_balances holds transfers beyond the snapshot, recount_balances is to be asked instead. Key (holder) of
-- holder_balances; the head twin is small. One row more, of the zero address, which is no token: how often the address got a
-- V3 position, and some of the final ones that came later: 0 means that it owns none. Key (owner) of owner_positions.
WITH
    recipient = unhex({holder:String}) AS comes,
    sender = unhex({holder:String}) AS goes
SELECT
    concat('0x', lower(hex(h.token))) AS token,
    toString(sum(h.delta)) AS balance,
    toBool(max(h.last_ord) > {final_ord:UInt64}) AS ahead
FROM
(
    SELECT token, balance AS delta, last_ord
    FROM holder_balances
    WHERE holder = unhex({holder:String})
    UNION ALL
    SELECT
        token,
        -- Whoever sends to itself keeps what it has.
        if(comes, amount::Int256, 0::Int256) - if(goes, amount::Int256, 0::Int256) AS delta,
        0 AS last_ord
    FROM transfers_head
    WHERE has({commits:Array(UInt64)}, commit)
        AND ord > {final_ord:UInt64}
        AND (comes OR goes)
    UNION ALL
    SELECT toFixedString('', 20) AS token, count()::Int256 AS delta, 0 AS last_ord
    FROM owner_positions
    WHERE owner = unhex({holder:String})
    UNION ALL
    SELECT toFixedString('', 20) AS token, count()::Int256 AS delta, 0 AS last_ord
    FROM position_events_head
    WHERE has({commits:Array(UInt64)}, commit)
        AND ord > {final_ord:UInt64}
        AND kind = 'transfer'
        AND recipient = unhex({holder:String})
) AS h
GROUP BY h.token
LIMIT {limit:UInt32}
