-- Each row: the newest stored answer of the node about the code at an address. Uses the key address. The
-- parameter `addresses` is hex without 0x.
SELECT
    concat('0x', lower(hex(c.address))) AS address,
    concat('0x', lower(hex(c.code_hash))) AS code_hash,
    c.code_size AS code_size,
    c.proxy AS proxy,
    concat('0x', lower(hex(c.implementation))) AS implementation,
    concat('0x', lower(hex(c.beacon))) AS beacon,
    c.facets AS facets,
    c.fixed AS fixed,
    c.checked_block AS checked_block
FROM contract_codes AS c
WHERE c.address IN (SELECT toFixedString(unhex(arrayJoin({addresses:Array(String)})), 20))
ORDER BY c.version DESC
LIMIT 1 BY c.address
LIMIT {limit:UInt32}
