-- Stores the claim of a writer, or its end, so that a standby process need not wait.
INSERT INTO writers (chain_id, session, id, name, ended, version)
SELECT {chain:UInt32}, {session:UInt64}, {id:UInt64}, {name:String}, {ended:Bool}, toUInt64(toUnixTimestamp64Micro(now64(6)))
