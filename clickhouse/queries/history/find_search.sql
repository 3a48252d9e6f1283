-- At most one row: the newest stored progress of the history search, which finds pools that are older than
-- the start block.
SELECT
    concat('0x', lower(hex(s.factories))) AS factories,
    start_block,
    searched_from,
    search_to,
    listed,
    pools,
    toString(s.state) AS state
FROM pool_search AS s
WHERE chain_id = {chain:UInt32}
ORDER BY version DESC
LIMIT 1
