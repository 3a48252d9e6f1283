-- Each row: one upgrade log of a proxy, beacon or diamond, oldest first. Events: Upgraded(address),
-- BeaconUpgraded(address), DiamondCut((address,uint8,bytes4[])[],address,bytes). Uses the key (chain_id, address,
-- topic0). The parameter `addresses` is hex without 0x.
SELECT
    u.address AS address,
    u.ord AS ord,
    u.topic0 AS topic0,
    if(u.topic_count > 1, u.topic1, NULL) AS topic1,
    u.data AS data
FROM
(
    -- both parts
    SELECT address, ord, topic_count, topic0, topic1, data
    FROM logs_chain
    WHERE chain_id = {chain_id:UInt32}
        AND address IN (SELECT toFixedString(unhex(arrayJoin({addresses:Array(String)})), 20))
        AND topic0 IN (unhex('bc7cd75a20ee27fd9adebab32041f755214dbc6bffa90cc0225b39da2e5c2d3b'), unhex('1cf3b03a6cf19fa2baba4df148e9dcabedea7f8a5c07840e207e5c089be95d3e'), unhex('8faa70878671ccd212d20771b795c50af8fd3ff6cf27f4bde57e5d4de0aeb673'))
    -- end
) AS u
ORDER BY u.ord
LIMIT {limit:UInt32}
