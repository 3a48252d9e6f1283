-- Each row: the block at which the ingester last read the code at an address, and whether the code can never change. Uses
-- the key address. The parameter `addresses` is hex without 0x.
SELECT c.address, c.checked_block, c.fixed
FROM contract_codes AS c
WHERE c.address IN (SELECT toFixedString(unhex(arrayJoin({addresses:Array(String)})), 20))
ORDER BY c.version DESC
LIMIT 1 BY c.address
LIMIT {limit:UInt32}
