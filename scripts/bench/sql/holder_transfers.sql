-- Loads the transfers number `at` to `at` + `count` of `total`, in block order, that give the token `token` its
-- holders.
INSERT INTO transfers
WITH
    (prefix, n) -> unhex(concat(prefix, leftPad(lower(hex(n)), 38, '0'))) AS address_of,
    toFixedString('', 20) AS nobody
SELECT
    (intDiv(n * {blocks:UInt64}, {total:UInt64}) + 1) * 1048576 + 2000 + n % 500,
    {from:UInt32} + n % 86400,
    unhex({token:String}),
    nobody,
    address_of('06', (n * 7919) % {holders:UInt64}),
    toUInt256(1000000000000000 + cityHash64(n, 3) % 1000000000000000000),
    'transfer',
    n % 50
FROM (SELECT {at:UInt64} + number AS n FROM numbers({count:UInt64}))
