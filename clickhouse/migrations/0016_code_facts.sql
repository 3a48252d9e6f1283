-- The code at an address can change, and a diamond has several implementations. Rows from before this migration are not
-- fixed, so their contracts are read again.
ALTER TABLE contract_codes
    ADD COLUMN IF NOT EXISTS facets String COMMENT 'Facets of a diamond according to facetAddresses(): 0x addresses, separated by commas; empty for other contracts' AFTER beacon,
    ADD COLUMN IF NOT EXISTS fixed Bool COMMENT 'Whether the code can never change: it has no operation that could end the contract or run other code' AFTER facets;
