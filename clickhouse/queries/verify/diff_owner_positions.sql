-- Each row: an owner, past or present, of a position, whose row in owner_positions differs from all final
-- events. Scans position_events once.
SELECT
    concat('owner_positions owner=0x', lower(hex(owner)), ' manager=0x', lower(hex(manager)), ' position=', toString(token_id)) AS item,
    any(side) AS only_in,
    toString(newest_ord) AS value
FROM
(
    SELECT 'owner_positions' AS side, owner, manager, token_id, max(last_ord) AS newest_ord
    FROM owner_positions
    GROUP BY owner, manager, token_id
    UNION ALL
    SELECT 'position_events' AS side, recipient AS owner, manager, token_id, max(ord) AS newest_ord
    FROM position_events
    WHERE kind = 'transfer'
    GROUP BY owner, manager, token_id
)
GROUP BY owner, manager, token_id, newest_ord
HAVING count() = 1
ORDER BY item, only_in
LIMIT 100
