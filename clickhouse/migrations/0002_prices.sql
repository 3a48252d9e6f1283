-- USD of swaps and liquidity events. Rows stored before have no prices; the new tables come with the schema.
ALTER TABLE swaps ADD COLUMN IF NOT EXISTS quote_price_usd Float64 COMMENT 'USD per whole quote token by the marginal price and the base token''s price; 0: none' AFTER price_usd;
ALTER TABLE swaps ADD COLUMN IF NOT EXISTS native_usd Float64 COMMENT 'USD per whole native token at the end of the block; 0: none' AFTER quote_price_usd;
ALTER TABLE swaps ADD COLUMN IF NOT EXISTS untracked_usd Decimal(38, 12) COMMENT 'Value in USD by prices that are not trusted; 0 when tracked or unknown' AFTER amount_usd;
ALTER TABLE swaps_head ADD COLUMN IF NOT EXISTS quote_price_usd Float64 COMMENT 'USD per whole quote token by the marginal price and the base token''s price; 0: none' AFTER price_usd;
ALTER TABLE swaps_head ADD COLUMN IF NOT EXISTS native_usd Float64 COMMENT 'USD per whole native token at the end of the block; 0: none' AFTER quote_price_usd;
ALTER TABLE swaps_head ADD COLUMN IF NOT EXISTS untracked_usd Decimal(38, 12) COMMENT 'Value in USD by prices that are not trusted; 0 when tracked or unknown' AFTER amount_usd;
ALTER TABLE liquidity_events ADD COLUMN IF NOT EXISTS trust UInt8 COMMENT 'Whose price was trusted: 1 token0, 2 token1, 3 both, 0 none' AFTER amount1_usd;
ALTER TABLE liquidity_events_head ADD COLUMN IF NOT EXISTS trust UInt8 COMMENT 'Whose price was trusted: 1 token0, 2 token1, 3 both, 0 none' AFTER amount1_usd;
ALTER TABLE pools ADD COLUMN IF NOT EXISTS tokens Array(FixedString(20)) COMMENT 'Weighted and stable pools: all tokens in chain order; token0 and token1 are the two of the default leg' AFTER base_is_token0;
ALTER TABLE pools ADD COLUMN IF NOT EXISTS weights Array(UInt64) COMMENT 'Weighted pools: the weight of each token, times 10^18' AFTER tokens;
ALTER TABLE pools_head ADD COLUMN IF NOT EXISTS tokens Array(FixedString(20)) COMMENT 'Weighted and stable pools: all tokens in chain order; token0 and token1 are the two of the default leg' AFTER base_is_token0;
ALTER TABLE pools_head ADD COLUMN IF NOT EXISTS weights Array(UInt64) COMMENT 'Weighted pools: the weight of each token, times 10^18' AFTER tokens;
ALTER TABLE pool_states ADD COLUMN IF NOT EXISTS balances Array(UInt256) COMMENT 'Weighted and stable pools: the raw balance of each token, in the order of pools.tokens' CODEC(ZSTD(1)) AFTER price;
ALTER TABLE pool_states_head ADD COLUMN IF NOT EXISTS balances Array(UInt256) COMMENT 'Weighted and stable pools: the raw balance of each token, in the order of pools.tokens' CODEC(ZSTD(1)) AFTER price;
