-- The code at an address can change, and a diamond has several implementations. Rows from before this migration are not
-- fixed, so their contracts are read again.
ALTER TABLE contract_codes
    ADD COLUMN IF NOT EXISTS facets String COMMENT 'Facets of a diamond according to facetAddresses(): 0x addresses, separated by commas; empty for other contracts' AFTER beacon,
    ADD COLUMN IF NOT EXISTS fixed Bool COMMENT 'Whether the code can never change: it has no operation that could end the contract or run other code' AFTER facets;
ALTER TABLE verified_contracts
    ADD COLUMN IF NOT EXISTS creation_match LowCardinality(String) COMMENT 'Result of the comparison of the creation code: exact_match or match; empty if it was not compared' AFTER deployment_block,
    ADD COLUMN IF NOT EXISTS outputs String COMMENT 'Further outputs of the compiler, a JSON object with metadata, storageLayout, userdoc, devdoc and evm; empty if unknown' CODEC(ZSTD(3)) AFTER creation_match;
