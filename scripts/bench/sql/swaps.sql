-- Loads the swaps number `at` to `at` + `count`, of `swaps` in `blocks` blocks, oldest first. Pair index = pairs^u − 1
-- with u uniform, so popularity falls like 1/rank. The caller appends the settings.
INSERT INTO swaps
WITH
    n -> unhex(concat('e2', leftPad(lower(hex(n)), 38, '0'))) AS pair_of,
    n -> unhex(concat('01', leftPad(lower(hex(n % 5000)), 38, '0'))) AS base_of,
    n -> unhex(concat('02', leftPad(lower(hex(n % 5)), 38, '0'))) AS quote_of
SELECT
    block * 1048576 + nth % 1000 * 2 AS ord,
    {from:UInt32} + block * {seconds:UInt32},
    pair_of(pair_index),
    1,
    'bench',
    2,
    base_of(pair_index),
    quote_of(pair_index),
    true,
    reinterpretAsFixedString(sipHash128(nth)) || reinterpretAsFixedString(sipHash128(nth + 1)),
    nth % 50,
    unhex(leftPad(lower(hex(cityHash64(nth) % 20000)), 40, '0')),
    unhex(repeat('03', 20)),
    unhex(repeat('04', 20)),
    toInt256(amount),
    -toInt256(amount * 3),
    toUInt256(1000000000000000000000 + amount),
    toUInt256(3000000000000000000000),
    0,
    0,
    0,
    (1 + (cityHash64(nth, 7) % 1000) / 100000) * (1 + pair_index) AS raw_price,
    raw_price,
    1,
    0.5,
    toDecimal128(amount / 1e15, 12) AS usd,
    0,
    true,
    15,
    2900
FROM
(
    SELECT
        {at:UInt64} + number AS nth,
        intDiv(nth * {blocks:UInt64}, {swaps:UInt64}) + 1 AS block,
        toUInt64(floor(pow({pairs:Float64}, (cityHash64(nth, 1) % 1000003) / 1000003))) - 1 AS pair_index,
        1000000000000000 + cityHash64(nth, 2) % 1000000000000000 AS amount
    FROM numbers({count:UInt64})
)
