-- Pools without a contract have an id of 32 bytes, and may have a hook. Stored pools are of other protocols, so their
-- columns are null.
ALTER TABLE pools
    ADD COLUMN IF NOT EXISTS pool_id Nullable(FixedString(32)) COMMENT 'Id of a pool without a contract; its last 20 bytes are the address. Null for other pools' AFTER scale_decimals,
    ADD COLUMN IF NOT EXISTS hooks Nullable(FixedString(20)) COMMENT 'Uniswap V4: contract that the pool calls before or after its swaps; null without one, and for other pools' AFTER pool_id;
ALTER TABLE pools_head
    ADD COLUMN IF NOT EXISTS pool_id Nullable(FixedString(32)) COMMENT 'Id of a pool without a contract; its last 20 bytes are the address. Null for other pools' AFTER scale_decimals,
    ADD COLUMN IF NOT EXISTS hooks Nullable(FixedString(20)) COMMENT 'Uniswap V4: contract that the pool calls before or after its swaps; null without one, and for other pools' AFTER pool_id;
ALTER TABLE found_pools
    ADD COLUMN IF NOT EXISTS hooks Nullable(FixedString(20)) COMMENT 'Uniswap V4: contract that the pool calls before or after its swaps; null without one, and for other pools' AFTER pool_id;
