-- One row: one thing that is known of a contract as of the snapshot, `body` a JSON list as contractFacts.ts reads it by `fact`:
--   emitted   how much it emitted; one row for the final part, one for the head. `ahead`: the final part holds logs beyond the
--             snapshot, which recount_emitters leaves out
--   created   how it came to be, as told by the transaction that made it, the factory whose pool it is, or the node; the last
--             of each (an address may be used again after a self-destruct)
--   code      what the node said last of the code at the address
--   token     its newest metadata;  pool: it is a pool
--   verified  it is verified, as the database `verified_db` has it
--   twin      of no contract of its own: a contract with this hash of code is verified there, on any chain
-- Without `details` no creations.
-- One statement, since planning several costs more than reading what they need. Keys: address of every table, that of the
-- projection by_emitter, code_hash of verified_code_hashes; the head twins are small. `address`, or `addresses`: hex without 0x.
SELECT
    concat('0x', lower(hex(k.contract))) AS address,
    k.fact AS fact,
    k.body AS body
FROM
(
    SELECT contract, 'emitted' AS fact, toJSONString((toString(sums), toString(low), toString(high), toBool(high > {final_ord:UInt64}))) AS body
    FROM
    (
        SELECT address AS contract, count() AS sums, min(ord) AS low, max(ord) AS high
        FROM logs
        WHERE chain_id = {chain_id:UInt32}
            AND address = unhex({address:String}) -- if address
            AND address IN (SELECT toFixedString(unhex(arrayJoin({addresses:Array(String)})), 20)) -- if addresses
        GROUP BY chain_id, address
    )
    -- if commits
    UNION ALL
    SELECT address, 'emitted', toJSONString((toString(count()), toString(min(ord)), toString(max(ord)), false))
    FROM logs_head
    WHERE chain_id = {chain_id:UInt32}
        AND ord > {final_ord:UInt64}
        AND has({commits:Array(UInt64)}, commit)
        AND address = unhex({address:String}) -- if address
        AND address IN (SELECT toFixedString(unhex(arrayJoin({addresses:Array(String)})), 20)) -- if addresses
    GROUP BY address
    -- if details
    UNION ALL
    SELECT address, 'created', toJSONString((if(isNull(creator), NULL, concat('0x', lower(hex(assumeNotNull(creator))))), NULL, concat('0x', lower(hex(tx_hash))), toUInt32(intDiv(ord, 1048576)), timestamp))
    FROM created_contracts_head
    WHERE ord > {final_ord:UInt64}
        AND has({commits:Array(UInt64)}, commit)
        AND address = unhex({address:String}) -- if address
        AND address IN (SELECT toFixedString(unhex(arrayJoin({addresses:Array(String)})), 20)) -- if addresses
    -- end
    UNION ALL
    SELECT address, 'pool', toJSONString((concat('0x', lower(hex(factory))), if(isNull(created_tx), NULL, concat('0x', lower(hex(assumeNotNull(created_tx))))), created_block, created_at))
    FROM pools_head
    WHERE ord > {final_ord:UInt64}
        AND has({commits:Array(UInt64)}, commit)
        AND address = unhex({address:String}) -- if address
        AND address IN (SELECT toFixedString(unhex(arrayJoin({addresses:Array(String)})), 20)) -- if addresses
    -- end
    -- if details
    UNION ALL
    (
        SELECT address, 'created', toJSONString((if(isNull(creator), NULL, concat('0x', lower(hex(assumeNotNull(creator))))), NULL, concat('0x', lower(hex(tx_hash))), toUInt32(intDiv(ord, 1048576)), timestamp))
        FROM created_contracts
        WHERE ord <= {final_ord:UInt64}
            AND address = unhex({address:String}) -- if address
            AND address IN (SELECT toFixedString(unhex(arrayJoin({addresses:Array(String)})), 20)) -- if addresses
        ORDER BY ord DESC
        LIMIT 1 BY address
    )
    UNION ALL
    (
        SELECT address, 'created', toJSONString((concat('0x', lower(hex(assumeNotNull(creator)))), if(isNull(factory), NULL, concat('0x', lower(hex(assumeNotNull(factory))))), concat('0x', lower(hex(tx_hash))), block, timestamp))
        FROM contract_creations
        WHERE block <= intDiv({final_ord:UInt64}, 1048576)
            AND isNotNull(creator)
            AND address = unhex({address:String}) -- if address
            AND address IN (SELECT toFixedString(unhex(arrayJoin({addresses:Array(String)})), 20)) -- if addresses
        ORDER BY version DESC
        LIMIT 1 BY address
    )
    -- end
    UNION ALL
    SELECT address, 'pool', toJSONString((concat('0x', lower(hex(factory))), if(isNull(created_tx), NULL, concat('0x', lower(hex(assumeNotNull(created_tx))))), created_block, created_at))
    FROM pools
    WHERE ord <= {final_ord:UInt64}
        AND address = unhex({address:String}) -- if address
        AND address IN (SELECT toFixedString(unhex(arrayJoin({addresses:Array(String)})), 20)) -- if addresses
    UNION ALL
    (
        SELECT address, 'code', toJSONString((concat('0x', lower(hex(code_hash))), code_size, proxy, concat('0x', lower(hex(implementation))), concat('0x', lower(hex(beacon)))))
        FROM contract_codes
        WHERE true
            AND address = unhex({address:String}) -- if address
            AND address IN (SELECT toFixedString(unhex(arrayJoin({addresses:Array(String)})), 20)) -- if addresses
        ORDER BY version DESC
        LIMIT 1 BY address
    )
    UNION ALL
    (
        SELECT address, 'token', toJSONString((symbol, name, decimals))
        FROM tokens
        WHERE true
            AND address = unhex({address:String}) -- if address
            AND address IN (SELECT toFixedString(unhex(arrayJoin({addresses:Array(String)})), 20)) -- if addresses
        ORDER BY version DESC
        LIMIT 1 BY address
    )
    UNION ALL
    SELECT address, 'verified', '[]'
    FROM {verified_db:Identifier}.verified_contracts
    WHERE chain_id = {chain_id:UInt32}
        AND address = unhex({address:String}) -- if address
        AND address IN (SELECT toFixedString(unhex(arrayJoin({addresses:Array(String)})), 20)) -- if addresses
    UNION ALL
    (
        SELECT toFixedString('', 20), 'twin', toJSONString(tuple(concat('0x', lower(hex(code_hash)))))
        FROM {verified_db:Identifier}.verified_code_hashes
        WHERE code_hash IN (
            SELECT code_hash
            FROM contract_codes
            WHERE true
                AND address = unhex({address:String}) -- if address
                AND address IN (SELECT toFixedString(unhex(arrayJoin({addresses:Array(String)})), 20)) -- if addresses
        )
        LIMIT 1 BY code_hash
    )
) AS k
LIMIT {limit:UInt32}
