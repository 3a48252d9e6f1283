-- At most one row: the newest stored progress of the pool search, which finds pools that are older than
-- the start block.
SELECT
    s.factories,
    start_block,
    searched_from,
    search_to,
    listed,
    pools,
    s.state
FROM pool_search AS s
WHERE chain_id = {chain:UInt32}
ORDER BY version DESC
LIMIT 1
