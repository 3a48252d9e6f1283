-- Each row: an owner, past or present, of a position, whose row in owner_positions differs from all final
-- events. Scans position_events once.
SELECT
    concat('owner_positions owner=0x', lower(hex(owner)), ' manager=0x', lower(hex(manager)), ' position=', toString(token_id)) AS item,
    any(side) AS only_in,
    toString(lo) AS value
FROM
(
    SELECT 'owner_positions' AS side, owner, manager, token_id, max(last_ord) AS lo
    FROM owner_positions
    GROUP BY owner, manager, token_id
    UNION ALL
    SELECT 'position_events' AS side, recipient AS owner, manager, token_id, max(ord) AS lo
    FROM position_events
    WHERE kind = 'transfer'
    GROUP BY owner, manager, token_id
)
GROUP BY owner, manager, token_id, lo
HAVING count() = 1
ORDER BY item, only_in
LIMIT 100
