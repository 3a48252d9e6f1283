-- Loads the first state of each of `pairs` pools.
INSERT INTO pool_states
    (ord, timestamp, kind, pair, dex, pool_type, token0, token1, base_is_token0, tx_hash, tx_index, reserve0, reserve1, price, walked_liquidity)
WITH
    n -> unhex(concat('e2', leftPad(lower(hex(n)), 38, '0'))) AS pair_of,
    n -> unhex(concat('01', leftPad(lower(hex(n % 5000)), 38, '0'))) AS base_of,
    n -> unhex(concat('02', leftPad(lower(hex(n % 5)), 38, '0'))) AS quote_of
SELECT
    (number + 1) * 1048576 + 1,
    {from:UInt32},
    'sync',
    pair_of(number),
    'bench',
    2,
    base_of(number),
    quote_of(number),
    true,
    unhex(repeat('00', 32)),
    0,
    toUInt256(1000000000000000000000),
    toUInt256(3000000000000000000000),
    1 + number,
    -1
FROM numbers({pairs:UInt64})
