-- Each row: an upgrade log of a proxy, beacon or diamond (event Upgraded, BeaconUpgraded or DiamondCut): the oldest `limit`
-- final rows in (from_ord, to_ord]. Finds the ords in the projection by_topic, then the contracts by ord through by_ord.
-- Never scans other topics.
SELECT l.address, l.ord
FROM logs AS l
WHERE l.chain_id = {chain_id:UInt32}
    AND l.ord > {from_ord:UInt64}
    AND l.ord <= {to_ord:UInt64}
    AND l.ord IN
    (
        SELECT ord
        FROM logs
        WHERE chain_id = {chain_id:UInt32}
            AND topic0 IN (unhex('bc7cd75a20ee27fd9adebab32041f755214dbc6bffa90cc0225b39da2e5c2d3b'), unhex('1cf3b03a6cf19fa2baba4df148e9dcabedea7f8a5c07840e207e5c089be95d3e'), unhex('8faa70878671ccd212d20771b795c50af8fd3ff6cf27f4bde57e5d4de0aeb673'))
            AND ord > {from_ord:UInt64}
            AND ord <= {to_ord:UInt64}
        ORDER BY ord
        LIMIT {limit:UInt32}
    )
ORDER BY l.ord
LIMIT {limit:UInt32}
