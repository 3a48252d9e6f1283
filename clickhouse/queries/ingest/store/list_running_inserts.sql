-- Each row: one insert that runs on this server, of this database or as a part of an insert of another server of the
-- cluster. If `ids` is not empty, only inserts with one of these ids.
SELECT query_id AS id
FROM system.processes
WHERE query_kind = 'Insert' AND (current_database = currentDatabase() OR NOT is_initial_query)
  AND (empty({ids:Array(String)}) OR has({ids:Array(String)}, query_id))
LIMIT {limit:UInt32}
