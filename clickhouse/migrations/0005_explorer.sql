-- Logs by topic, block and transaction, what each contract emitted, blocks by hash. Stored parts get it in the background.
ALTER TABLE logs ADD PROJECTION IF NOT EXISTS by_topic (SELECT chain_id, topic0, ord, _part_offset ORDER BY chain_id, topic0, ord);
ALTER TABLE logs ADD PROJECTION IF NOT EXISTS by_ord (SELECT chain_id, ord, _part_offset ORDER BY chain_id, ord);
ALTER TABLE logs ADD PROJECTION IF NOT EXISTS by_tx (SELECT reinterpretAsUInt32(tx_hash), _part_offset ORDER BY reinterpretAsUInt32(tx_hash));
ALTER TABLE logs ADD PROJECTION IF NOT EXISTS by_emitter (SELECT chain_id, address, count(), min(ord), max(ord) GROUP BY chain_id, address);
ALTER TABLE logs MATERIALIZE PROJECTION by_topic;
ALTER TABLE logs MATERIALIZE PROJECTION by_ord;
ALTER TABLE logs MATERIALIZE PROJECTION by_tx;
ALTER TABLE logs MATERIALIZE PROJECTION by_emitter;
ALTER TABLE blocks ADD PROJECTION IF NOT EXISTS by_hash (SELECT reinterpretAsUInt32(hash), _part_offset ORDER BY reinterpretAsUInt32(hash));
ALTER TABLE blocks MATERIALIZE PROJECTION by_hash;
