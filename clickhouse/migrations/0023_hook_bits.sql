-- A pool of PancakeSwap Infinity names the permissions of its hook. Stored pools are of other protocols, so their column is
-- null.
ALTER TABLE pools
    ADD COLUMN IF NOT EXISTS hook_bits Nullable(UInt16) COMMENT 'PancakeSwap Infinity: permissions of the hook, as the bits of a Uniswap V4 hook; null without a hook, and for other pools' AFTER hooks;
ALTER TABLE pools_head
    ADD COLUMN IF NOT EXISTS hook_bits Nullable(UInt16) COMMENT 'PancakeSwap Infinity: permissions of the hook, as the bits of a Uniswap V4 hook; null without a hook, and for other pools' AFTER hooks;
ALTER TABLE found_pools
    ADD COLUMN IF NOT EXISTS hook_bits Nullable(UInt16) COMMENT 'PancakeSwap Infinity: permissions of the hook, as the bits of a Uniswap V4 hook; null without a hook, and for other pools' AFTER hooks;
