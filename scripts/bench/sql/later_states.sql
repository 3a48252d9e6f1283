-- Loads one state for each swap after the position `since`.
INSERT INTO pool_states
    (ord, timestamp, kind, pair, dex, pool_type, token0, token1, base_is_token0, tx_hash, tx_index, maker, reserve0, reserve1, price, walked_liquidity)
SELECT ord + 1, timestamp, 'sync', pair, dex, pool_type, token0, token1, base_is_token0, tx_hash, tx_index, maker, reserve0, reserve1, price, -1
FROM swaps
WHERE ord > {since:UInt64}
