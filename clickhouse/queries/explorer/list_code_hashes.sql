-- One row: a hash of code that a node told of an address, zero bytes where there was none; RowBinary. The newest version counts.
-- `addresses`: hex without 0x. Key: address.
SELECT address, code_hash, version
FROM contract_codes
WHERE address IN (SELECT toFixedString(unhex(arrayJoin({addresses:Array(String)})), 20))
