-- What a contract emitted is found in granules of 512 rows instead of 4,096, of which one is read in every part: a quarter of the
-- statement's time. Stored parts get it in the background, and are counted by the table's own key until then. Not
-- smaller: the engine compares granules, not rows, where it chooses between a projection and the table (ClickHouse #103161).
ALTER TABLE logs ADD PROJECTION IF NOT EXISTS by_contract (SELECT chain_id, address, count(), min(ord), max(ord) GROUP BY chain_id, address) WITH SETTINGS (index_granularity = 512);
ALTER TABLE logs MATERIALIZE PROJECTION by_contract;
ALTER TABLE logs DROP PROJECTION IF EXISTS by_emitter;
