-- The swaps and syncs of a pair lie together with all columns of /activity, and events are counted by pair. ClickHouse
-- writes the projections of stored rows in the background, which takes disk space and minutes. Until then, reads are as
-- slow as before. The projections by_pair and by_pair_kind stay, because without them other reads would be slow until
-- then. New databases do not have these two.
ALTER TABLE swaps
    ADD PROJECTION IF NOT EXISTS of_pair (SELECT pair, ord, timestamp, leg, dex, pool_type, token0, token1, base_is_token0, tx_hash, maker, sender, recipient, amount0, amount1, reserve0, reserve1, sqrt_price_x96, liquidity, tick, price, price_usd, quote_price_usd, amount_usd, fee_pips, tracked ORDER BY pair, ord);
ALTER TABLE swaps
    MATERIALIZE PROJECTION of_pair;
ALTER TABLE pool_states
    ADD PROJECTION IF NOT EXISTS of_pair (SELECT pair, ord, kind, timestamp, dex, pool_type, token0, token1, base_is_token0, tx_hash, maker, reserve0, reserve1 ORDER BY pair, ord);
ALTER TABLE pool_states
    MATERIALIZE PROJECTION of_pair;
ALTER TABLE events
    ADD PROJECTION IF NOT EXISTS counts (SELECT pair, kind, count() GROUP BY pair, kind);
ALTER TABLE events
    MATERIALIZE PROJECTION counts;
