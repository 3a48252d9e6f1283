-- Activity of one maker: an index that skips what the maker is not in.
ALTER TABLE swaps ADD INDEX IF NOT EXISTS by_maker maker TYPE bloom_filter(0.01) GRANULARITY 4;
ALTER TABLE liquidity_events ADD INDEX IF NOT EXISTS by_maker maker TYPE bloom_filter(0.01) GRANULARITY 4;
ALTER TABLE pool_states ADD INDEX IF NOT EXISTS by_maker maker TYPE bloom_filter(0.01) GRANULARITY 4;
ALTER TABLE swaps MATERIALIZE INDEX by_maker;
ALTER TABLE liquidity_events MATERIALIZE INDEX by_maker;
ALTER TABLE pool_states MATERIALIZE INDEX by_maker;
