-- Each row: one V3 position with liquidity that an address owns as of the snapshot, or one bin of which it has shares.
-- Candidates come from owner_positions, key (owner), and from the head transfers. The positions' own events, key (manager,
-- token_id), give the owner and the liquidity, or the shares that the address received and sent. Must never scan
-- position_events.
WITH
    owned AS
    (
        SELECT manager, token_id
        FROM owner_positions
        WHERE owner = unhex({owner:String})
        UNION DISTINCT
        SELECT manager, token_id
        FROM position_events_head_chain
        WHERE kind = 'transfer'
            AND recipient = unhex({owner:String})
    )
SELECT
    e.manager AS manager,
    toString(e.token_id) AS position_id,
    argMinIf(e.pair, e.ord, e.has_range) AS pair,
    argMinIf(e.tick_lower, e.ord, e.has_range) AS tick_lower,
    argMinIf(e.tick_upper, e.ord, e.has_range) AS tick_upper,
    sumIf(e.liquidity::Int256, e.kind = 'increase') - sumIf(e.liquidity::Int256, e.kind = 'decrease') AS liquidity,
    sumIf(e.shares, e.recipient = unhex({owner:String})) - sumIf(e.shares, e.sender = unhex({owner:String})) AS shares
FROM
(
    SELECT
        manager, token_id, ord, toString(kind) AS kind, sender, recipient, pair, tick_lower, tick_upper, liquidity,
        if(kind = 'transfer', amount0, 0)::Int256 AS shares,
        pair != toFixedString('', 20) AS has_range
    FROM position_events_chain
    WHERE (manager, token_id) IN owned
) AS e
GROUP BY e.manager, e.token_id
HAVING (argMaxIf(e.recipient, e.ord, e.kind = 'transfer') = unhex({owner:String}) AND liquidity > 0) OR shares != 0
ORDER BY manager, e.token_id
LIMIT {limit:UInt32}
