-- Stores the state of a writer as its sign of life: a standby process does not take over, and processes that only serve the
-- data report the writer's problems. Throws the message `fenced` if a newer writer has claimed the chain.
INSERT INTO writer_states (chain_id, session, id, state, version)
SELECT {chain:UInt32}, {session:UInt64}, {id:UInt64}, {state:String}, toUInt64(toUnixTimestamp64Micro(now64(6)))
WHERE throwIf((SELECT max((session, id)) FROM writers WHERE chain_id = {chain:UInt32}) != ({session:UInt64}, {id:UInt64}), {fenced:String}) = 0
