-- Loads `pairs` pools, each created by its own log of the first blocks. Pair 0 trades most.
INSERT INTO pools
    (ord, address, dex, protocol, pool_type, factory, token0, token1, base_is_token0, fee_pips, tick_spacing, created_block, created_at)
WITH
    n -> unhex(concat('e2', leftPad(lower(hex(n)), 38, '0'))) AS pair_of,
    n -> unhex(concat('01', leftPad(lower(hex(n % 5000)), 38, '0'))) AS base_of,
    n -> unhex(concat('02', leftPad(lower(hex(n % 5)), 38, '0'))) AS quote_of
SELECT
    (number + 1) * 1048576,
    pair_of(number),
    'bench',
    'uniswap_v2',
    2,
    unhex(repeat('fa', 20)),
    base_of(number),
    quote_of(number),
    true,
    2900,
    0,
    1,
    {from:UInt32}
FROM numbers({pairs:UInt64})
