-- Stable pools of two tokens have a price only with the decimals by which their contract scales the reserves. Stored
-- pools are of other protocols, so their column is empty.
ALTER TABLE pools
    ADD COLUMN IF NOT EXISTS scale_decimals Array(UInt8) COMMENT 'Stable pools of two tokens: decimals by which the contract scales token0 and token1; empty for other pools, or if unknown' AFTER tick_spacing;
ALTER TABLE pools_head
    ADD COLUMN IF NOT EXISTS scale_decimals Array(UInt8) COMMENT 'Stable pools of two tokens: decimals by which the contract scales token0 and token1; empty for other pools, or if unknown' AFTER tick_spacing;
ALTER TABLE found_pools
    ADD COLUMN IF NOT EXISTS scale_decimals Array(UInt8) COMMENT 'Stable pools of two tokens: decimals by which the contract scales token0 and token1; empty for other pools, or if unknown' AFTER tick_spacing;
