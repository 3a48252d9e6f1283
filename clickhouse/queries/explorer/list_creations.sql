-- One row: how a contract came to be, by its last creation (an address may be used again after a self-destruct): of the
-- transaction that made it itself, of the factory whose pool it is, or of what the node was asked. Keys: address of
-- created_contracts, contract_creations and pools; the head twins are small. `addresses`: hex without 0x.
SELECT
    concat('0x', lower(hex(c.contract))) AS address,
    if(isNull(c.creator), NULL, concat('0x', lower(hex(assumeNotNull(c.creator))))) AS creator,
    if(isNull(c.factory), NULL, concat('0x', lower(hex(assumeNotNull(c.factory))))) AS factory,
    concat('0x', lower(hex(c.tx_hash))) AS tx_hash,
    c.block AS block,
    c.timestamp AS timestamp
FROM
(
    SELECT address AS contract, creator, NULL::Nullable(FixedString(20)) AS factory, tx_hash, intDiv(ord, 1048576)::UInt32 AS block, timestamp
    FROM created_contracts
    WHERE address IN (SELECT toFixedString(unhex(arrayJoin({addresses:Array(String)})), 20)) AND ord <= {final_ord:UInt64}
    -- if commits
    UNION ALL
    SELECT address, creator, NULL, tx_hash, intDiv(ord, 1048576)::UInt32, timestamp
    FROM created_contracts_head
    WHERE address IN (SELECT toFixedString(unhex(arrayJoin({addresses:Array(String)})), 20)) AND ord > {final_ord:UInt64} AND has({commits:Array(UInt64)}, commit)
    -- end
    UNION ALL
    SELECT address, NULL, factory, assumeNotNull(created_tx), assumeNotNull(created_block), assumeNotNull(created_at)
    FROM pools
    WHERE address IN (SELECT toFixedString(unhex(arrayJoin({addresses:Array(String)})), 20)) AND ord <= {final_ord:UInt64} AND isNotNull(created_tx)
    -- if commits
    UNION ALL
    SELECT address, NULL, factory, assumeNotNull(created_tx), assumeNotNull(created_block), assumeNotNull(created_at)
    FROM pools_head
    WHERE address IN (SELECT toFixedString(unhex(arrayJoin({addresses:Array(String)})), 20)) AND ord > {final_ord:UInt64} AND has({commits:Array(UInt64)}, commit) AND isNotNull(created_tx)
    -- end
    UNION ALL
    SELECT address, creator, factory, tx_hash, block, timestamp
    FROM contract_creations
    WHERE address IN (SELECT toFixedString(unhex(arrayJoin({addresses:Array(String)})), 20))
        AND block <= intDiv({final_ord:UInt64}, 1048576)
        AND isNotNull(creator)
) AS c
ORDER BY c.block DESC, isNull(c.creator), isNull(c.factory)
LIMIT 1 BY c.contract
LIMIT {limit:UInt32}
