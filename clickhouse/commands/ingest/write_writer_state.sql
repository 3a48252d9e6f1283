-- Stores the state of a writer, so that processes which only serve the data can report its problems.
INSERT INTO writer_states (chain_id, session, id, state, version)
SELECT {chain:UInt32}, {session:UInt64}, {id:UInt64}, {state:String}, toUInt64(toUnixTimestamp64Micro(now64(6)))
