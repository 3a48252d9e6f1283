-- Stores a sign of life of a writer: a row that a live writer stores every few seconds, so that a standby
-- process does not take over.
INSERT INTO writers (chain_id, session, id, name, ended, version)
SELECT {chain:UInt32}, {session:UInt64}, {id:UInt64}, {name:String}, {ended:Bool}, toUInt64(toUnixTimestamp64Micro(now64(6)))
