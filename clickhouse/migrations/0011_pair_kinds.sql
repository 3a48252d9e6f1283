-- Events of one pair are found and counted by their kind without the table itself, of which each event opened a granule. Stored
-- parts get it in the background.
ALTER TABLE liquidity_events ADD PROJECTION IF NOT EXISTS by_pair_kind (SELECT pair, ord, kind ORDER BY pair, ord);
ALTER TABLE liquidity_events MATERIALIZE PROJECTION by_pair_kind;
ALTER TABLE liquidity_events DROP PROJECTION IF EXISTS by_pair;
ALTER TABLE pool_states ADD PROJECTION IF NOT EXISTS by_pair_kind (SELECT pair, ord, kind ORDER BY pair, ord);
ALTER TABLE pool_states MATERIALIZE PROJECTION by_pair_kind;
ALTER TABLE pool_states DROP PROJECTION IF EXISTS by_pair;
