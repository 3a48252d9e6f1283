-- Each row: the newest SwapFeePercentageChanged log of one pool of a vault, as of the snapshot. `swap_fee` is the data
-- of the log, one 32-byte word, where 1e18 means 100 %. With `since_ord`, only later changes are returned. The
-- parameter `pairs` is hex without 0x. With `all_pools`, all pools of the vault are returned. Uses the key (chain_id,
-- address, topic0), a granule or two for each pool. Reads all rows of the head table, which is small.
SELECT
    address AS pair,
    argMax(data, ord) AS swap_fee
FROM
(
    SELECT address, ord, data
    FROM logs
    WHERE chain_id = {chain_id:UInt32}
        AND address IN (SELECT address FROM pools WHERE pool_type IN (4, 5) AND ord <= {final_ord:UInt64}) -- if all_pools
        AND address IN (SELECT toFixedString(unhex(arrayJoin({pairs:Array(String)})), 20)) -- if pairs
        AND topic0 = unhex('a9ba3ffe0b6c366b81232caab38605a0699ad5398d6cce76f91ee809e322dafc')
        AND topic_count = 1
        AND length(data) = 32
        AND ord <= {final_ord:UInt64}
        AND ord > {since_ord:UInt64} -- if since_ord
    -- if commits
    UNION ALL
    SELECT address, ord, data
    FROM logs_head_chain
    WHERE chain_id = {chain_id:UInt32}
        AND address IN (SELECT toFixedString(unhex(arrayJoin({pairs:Array(String)})), 20)) -- if pairs
        AND topic0 = unhex('a9ba3ffe0b6c366b81232caab38605a0699ad5398d6cce76f91ee809e322dafc')
        AND topic_count = 1
        AND length(data) = 32
    -- end
)
GROUP BY address
LIMIT {limit:UInt32}
