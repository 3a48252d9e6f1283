-- Each row: one fact about a contract as of the snapshot. The column `fact` is one of the numbers below and names the
-- kind of fact. The meaning of the other columns depends on the kind:
--
--   1 created   from the receipt of the creating transaction: one = sender, hash = transaction, x = block, y = time
--   2 told      creation from the node: columns as for 1, and other = factory, version = time of writing
--
--   3 pool      one = factory, hash = transaction, x = block, y = time of the creation
--   4 code      from the node: one = implementation, other = beacon, hash = code hash, x = size,
--               y = 1 if the code can never change, word = kind of proxy, words = facets,
--               version = time of writing
--
--   5 token     x = decimals, word = symbol, words = name, version = time of writing
--
-- If a fact has several rows, the row with the largest version is valid. Log counts come from list_emitters.
-- The query computes nothing in its columns, and one statement returns all facts, because planning costs more
-- than reading. Uses the key address in every table. Reads all rows of the head tables, which are small. The
-- parameter `address` or `addresses` is hex without 0x.
SELECT address, 4 AS fact, implementation AS one, beacon AS other, code_hash AS hash, toUInt64(code_size) AS x, toUInt32(fixed) AS y, version, proxy AS word, facets AS words
FROM contract_codes
WHERE true
    AND address = unhex({address:String}) -- if address
    AND address IN (SELECT toFixedString(unhex(arrayJoin({addresses:Array(String)})), 20)) -- if addresses
LIMIT {limit:UInt32}
UNION ALL
SELECT address, 3, factory, NULL, created_tx, created_block, created_at, 0, NULL, NULL
FROM pools
WHERE ord <= {final_ord:UInt64}
    AND address = unhex({address:String}) -- if address
    AND address IN (SELECT toFixedString(unhex(arrayJoin({addresses:Array(String)})), 20)) -- if addresses
LIMIT {limit:UInt32}
UNION ALL
SELECT address, 5, NULL, NULL, NULL, decimals, NULL, version, symbol, name
FROM tokens
WHERE true
    AND address = unhex({address:String}) -- if address
    AND address IN (SELECT toFixedString(unhex(arrayJoin({addresses:Array(String)})), 20)) -- if addresses
LIMIT {limit:UInt32}
UNION ALL
SELECT address, 1, creator, NULL, tx_hash, intDiv(ord, 1048576), timestamp, 0, NULL, NULL
FROM created_contracts
WHERE ord <= {final_ord:UInt64}
    AND address = unhex({address:String}) -- if address
    AND address IN (SELECT toFixedString(unhex(arrayJoin({addresses:Array(String)})), 20)) -- if addresses
LIMIT {limit:UInt32}
UNION ALL
SELECT address, 2, creator, factory, tx_hash, block, timestamp, version, NULL, NULL
FROM contract_creations
WHERE block <= intDiv({final_ord:UInt64}, 1048576)
    AND isNotNull(creator)
    AND address = unhex({address:String}) -- if address
    AND address IN (SELECT toFixedString(unhex(arrayJoin({addresses:Array(String)})), 20)) -- if addresses
LIMIT {limit:UInt32}
-- if commits
UNION ALL
SELECT address, 1, creator, NULL, tx_hash, intDiv(ord, 1048576), timestamp, 0, NULL, NULL
FROM created_contracts_head_chain
WHERE true
    AND address = unhex({address:String}) -- if address
    AND address IN (SELECT toFixedString(unhex(arrayJoin({addresses:Array(String)})), 20)) -- if addresses
LIMIT {limit:UInt32}
UNION ALL
SELECT address, 3, factory, NULL, created_tx, created_block, created_at, 0, NULL, NULL
FROM pools_head_chain
WHERE true
    AND address = unhex({address:String}) -- if address
    AND address IN (SELECT toFixedString(unhex(arrayJoin({addresses:Array(String)})), 20)) -- if addresses
LIMIT {limit:UInt32}
-- end
