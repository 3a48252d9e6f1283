-- One row: the first ingested block and the last final block of the chain.
SELECT minIf(from_block, seq = 0) AS start_block, argMax(to_block, seq) AS final_to
FROM promotions
WHERE status = 'done' AND chain_id = {chain:UInt32}
LIMIT 1
