-- Hashes that swaps of one transaction share, prices and the places of a pair's swaps are compressed better: a swap takes 71 B
-- instead of 78. New and merged parts have it.
ALTER TABLE swaps MODIFY COLUMN tx_hash CODEC(ZSTD(1));
ALTER TABLE swaps_head MODIFY COLUMN tx_hash CODEC(ZSTD(1));
ALTER TABLE swaps MODIFY SETTING default_compression_codec = 'ZSTD(3)';
ALTER TABLE pool_states MODIFY COLUMN tx_hash CODEC(ZSTD(1));
ALTER TABLE pool_states_head MODIFY COLUMN tx_hash CODEC(ZSTD(1));
